/* idempotency.pml - what a key means, as processes that may die, stall and repeat themselves at any step.
 *
 * Short work (mode A): claim, rows and saved answer are one transaction of a writer, which may hold the work of several requests.
 * Long work (mode B, -DLONG): the claim commits as PROCESSING with an operation, which workers of jobs carry out item by item under a lease.
 *
 * "C:" names the functions of the program that make a transition; tests/tools/model.sh looks that they exist. It also turns on
 * the faults at the end of this comment, one by one, and expects each of them to be found.
 *
 * Claims: a key has at most one effect while its record lives; no item of long work is done twice; what a client was told stands, and
 * is told again; a request with another content never gets that answer; whoever lost the right to an operation writes nothing more;
 * every client gets an answer and no record stays PROCESSING, as long as crashes, losses and stalls come to an end (weak fairness).
 *
 * CLAIM_AFTER_COMMIT  the record is saved in a transaction of its own, after that of the rows
 * LOOK_THEN_INSERT    the look-up decides, and the writer does not look again
 * REPLY_FIRST         the answer leaves before the commit
 * NO_GUARD            a worker's write does not ask whether the operation is still its own
 * NO_TAKEOVER         an operation whose worker is gone is left as it is */

#ifdef LONG
#define WORKERS	1
#define CLIENTS	2
#define OTHERS	0		/* clients whose content differs */
#else
#define WORKERS	2
#define CLIENTS	3
#define OTHERS	1
#endif
#ifndef CRASHES
#define CRASHES	2
#endif
#ifndef LOSSES
#define LOSSES	1
#endif
#define ITEMS	2
#ifndef STALLS
#define STALLS	1		/* leases that run out though their owner lives */
#endif
#ifndef FAILURES
#define FAILURES	1		/* pieces that fail and are left for later */
#endif
#define TAKEOVERS 1		/* OPERATION_TAKEOVERS */
#define HANDS	2		/* threads of jobs */

mtype = { NONE, PROCESSING, SUCCESS, FAILED };
mtype = { NOTHING, LOST, ACCEPTED, DONE, REFUSED, CONFLICT };
mtype = { FREE, HELD, OVER };			/* a lease */

/* What a commit makes last. */
typedef rows {
	mtype	record;
	bit	content;		/* the request hash */
	bit	expired;
	byte	effects;		/* since the record was claimed */
	mtype	operation;
	bit	retryable;
	mtype	lease;
	byte	owner, generation, attempts, done;
	byte	item[ITEMS];
};
/* Transactions follow one another (C: shared_turn_take, open_unit), and one that did not commit leaves nothing, so each is one step here: to die
 * inside it is to die before it. */
rows disk, tx, nothing;
byte killed;				/* the process that dies next */
byte crashes = CRASHES, losses = LOSSES;
#ifdef LONG
byte stalls = STALLS, failures = FAILURES;
bit  dead[HANDS];			/* it died with the lease in its hands */
#endif

chan queue[WORKERS] = [CLIENTS] of { byte };	/* C: writer_submit */
byte at[CLIENTS];			/* the worker that has this client's request; 0 = none */
mtype heard[CLIENTS], final[CLIENTS];
mtype prepared[CLIENTS];

#define content_of(c)	((c) >= CLIENTS - OTHERS)
#define is_final(m)	((m) == DONE || (m) == REFUSED || (m) == CONFLICT)
#define is_late(r)	(r.operation == PROCESSING && r.lease == OVER && r.attempts <= TAKEOVERS)
#define is_given_up(r)	(r.operation == PROCESSING && r.lease == OVER && r.attempts > TAKEOVERS)
#define is_finished(r)	((r.record == SUCCESS || r.record == FAILED) && !r.expired)
#define waits_for_hands(r) (r.operation == FAILED && r.retryable)

inline copy(to, from)
{
	to.record = from.record; to.content = from.content; to.expired = from.expired; to.effects = from.effects;
#ifdef LONG
	to.operation = from.operation; to.retryable = from.retryable; to.lease = from.lease; to.owner = from.owner;
	to.generation = from.generation; to.attempts = from.attempts; to.done = from.done;
	to.item[0] = from.item[0]; to.item[1] = from.item[1];
#endif
}
#define begin()		copy(tx, disk)		/* C: db_begin */
#define rollback()	copy(tx, nothing)	/* C: db_rollback */
/* C: db_commit */
inline commit()
{
	copy(disk, tx); copy(tx, nothing);
	assert(disk.effects <= 1);
#ifdef LONG
	assert(disk.item[0] <= 1 && disk.item[1] <= 1);
	assert(disk.operation != SUCCESS || (disk.item[0] == 1 && disk.item[1] == 1));
	assert(disk.record == NONE || disk.record == disk.operation);
#else
	assert(disk.record != PROCESSING);
#endif
}

/* C: store_record_claim */
inline claim(c)
{
	claimed = (tx.record == NONE || (tx.expired && tx.record != PROCESSING));
#ifdef LOOK_THEN_INSERT
	claimed = 1;
#endif
	if
	:: claimed ->
#ifdef LOOK_THEN_INSERT
		tx.effects = (tx.record == NONE || tx.expired -> 0 : tx.effects);
#else
#ifndef CLAIM_AFTER_COMMIT
		tx.effects = 0;
#endif
#endif
		tx.record = PROCESSING; tx.content = content_of(c); tx.expired = 0;
	:: else
	fi
}

/* The business rows: as they should be, or refused and taken back. C: unit_apply, db_savepoint, db_undo */
inline apply_rows(c)
{
#ifdef LONG
	/* C: operation_prepare, begin, store_operation_insert, store_record_defer */
	tx.effects++; tx.operation = PROCESSING; tx.lease = FREE; tx.owner = 0; tx.generation = 1; tx.attempts = 1; tx.done = 0;
	tx.item[0] = 0; tx.item[1] = 0; tx.retryable = 0;
	prepared[c] = ACCEPTED
#else
	if
	:: tx.effects++; prepared[c] = DONE
	:: prepared[c] = REFUSED
	fi
#endif
}

/* C: save, refuse, store_record_finish */
inline save_answer(c)
{
#ifndef LONG
	tx.record = (prepared[c] == DONE -> SUCCESS : FAILED)
#else
	skip
#endif
}

/* C: settle_existing, replay */
inline settle(c, r)
{
	if
	:: r.content != content_of(c) -> prepared[c] = CONFLICT
	:: r.content == content_of(c) && r.record == SUCCESS -> prepared[c] = DONE
	:: r.content == content_of(c) && r.record == FAILED && !waits_for_hands(r) -> prepared[c] = REFUSED
	:: else -> prepared[c] = ACCEPTED
	fi
}

/* A retry of what is late, or has failed and may be tried again, puts it back for whoever comes. C: settle_running */
inline settle_late()
{
#ifdef LONG
	if
#ifndef NO_TAKEOVER
	:: is_late(tx) ->			/* C: store_operation_free, store_record_taken */
		tx.generation++; tx.attempts++; tx.owner = 0; tx.lease = FREE
#endif
	:: waits_for_hands(tx) ->		/* C: store_operation_revive, store_record_revive */
		tx.operation = PROCESSING; tx.record = PROCESSING; tx.retryable = 0; tx.generation++; tx.attempts = 1; tx.owner = 0;
		tx.lease = FREE
	:: else
	fi
#else
	skip
#endif
}

inline answer()
{
	atomic {
		c = 0;
		do
		:: c < CLIENTS ->
			if :: batch[c] -> batch[c] = 0; heard[c] = prepared[c]; prepared[c] = NOTHING; at[c] = 0 :: else fi;
			c++
		:: else -> break
		od;
		c = 0; claimed = 0;
	}
}

/* A worker's writer. C: writer_main, run_batch, fill, apply_in_group */
proctype writer(byte me)
{
	byte c;
	bit claimed, more;
	bit batch[CLIENTS];

end_reborn: do
	:: {
end_idle:	do
#ifdef CLAIM_AFTER_COMMIT
		:: atomic { queue[me - 1]?c ->
			begin(); batch[c] = 1;
			claimed = (tx.record == NONE || tx.expired);
			if
			:: claimed -> tx.effects = (tx.expired -> 0 : tx.effects); apply_rows(c); disk.effects = tx.effects; assert(disk.effects <= 1)
			:: else -> settle(c, tx)
			fi;
			rollback(); }
			atomic { begin();
			if
			:: claimed -> claim(c); save_answer(c); commit()
			:: else -> rollback()
			fi }
			answer()
#else
		:: atomic { queue[me - 1]?c ->
			begin();
			more = 1;
			do
			:: more ->
				batch[c] = 1; more = 0;
				claim(c);
				if
				:: claimed ->
					apply_rows(c);
					save_answer(c)
				:: else ->
					settle(c, tx);
					if :: prepared[c] == ACCEPTED -> settle_late() :: else fi
				fi;
				if
				:: queue[me - 1]?c -> more = 1
				:: skip
				fi
			:: else -> break
			od;
#ifdef REPLY_FIRST
			if :: commit() :: rollback() fi;
#else
			commit();
#endif
			}
			answer()		/* C: finish, send_wire */
#endif
		od
	} unless {
		/* Its transaction is gone, its queue too, and its clients see their connections end. */
		atomic {
			killed == me;
			do :: queue[me - 1]?c :: empty(queue[me - 1]) -> break od;
			c = 0;
			do
			:: c < CLIENTS ->
				batch[c] = 0;
				if :: at[c] == me -> at[c] = 0; heard[c] = LOST; prepared[c] = NOTHING :: else fi;
				c++
			:: else -> break
			od;
			c = 0; claimed = 0; more = 0; killed = 0;
		}
	}
	od
}
/* What is told is true on the disk. */
inline judge(c)
{
	assert(heard[c] != DONE || (disk.record == SUCCESS && disk.content == content_of(c) && disk.effects == 1));
	assert(heard[c] != REFUSED || (disk.record == FAILED && disk.content == content_of(c)));
	assert(heard[c] != CONFLICT || disk.content != content_of(c))
}

/* Sends until it is told something that ends it; any worker may get it. */
proctype client(byte c)
{
	byte w;

	do
	:: final[c] != NOTHING -> break
	:: final[c] == NOTHING ->
		if :: w = 0 :: WORKERS > 1 -> w = WORKERS - 1 fi;
		/* A snapshot: what it says may be old when it is acted on. C: unit_find */
		d_step {
			if
			:: is_finished(disk) && !waits_for_hands(disk) -> settle(c, disk)
			:: else -> prepared[c] = NOTHING
			fi;
		}
		if
		:: prepared[c] != NOTHING -> d_step { heard[c] = prepared[c]; prepared[c] = NOTHING; }
		:: else -> atomic { heard[c] = NOTHING; at[c] = w + 1; queue[w]!c; }
			heard[c] != NOTHING
		fi;
		atomic {
			if
			:: losses > 0 -> losses--; heard[c] = NOTHING
			:: is_final(heard[c]) -> judge(c); final[c] = heard[c]; heard[c] = NOTHING
			:: !is_final(heard[c]) -> heard[c] = NOTHING
			fi;
			w = 0;
		}
#ifdef LONG
		/* It polls; what it would hear meanwhile is the same 202. */
		(final[c] != NOTHING || disk.record != PROCESSING || is_late(disk))
#endif
	od
}
/* Any process may die at any step. */
proctype killer()
{
end_rest: do
	:: atomic { crashes > 0 && killed == 0 -> crashes--;
		if
		:: killed = 1
#ifdef LONG
		:: killed = WORKERS + 1
		:: killed = WORKERS + 2
#else
		:: killed = 2
#endif
		fi }
	od
}

#ifndef LONG
/* No earlier than everybody who retries is served. C: run_purge, unit_purge, store_record_purge */
proctype clock()
{
	atomic { final[0] != NOTHING && final[1] != NOTHING && at[2] == 0 && heard[2] == NOTHING && prepared[2] == NOTHING && is_finished(disk) -> disk.expired = 1; }
	if
	:: atomic { disk.record != PROCESSING && disk.expired -> copy(disk, nothing); }
	:: skip
	fi
}
#else
/* A lease runs out when its owner is dead or has left it, and now and then though it lives. */
proctype clock()
{
end_time: do
	:: atomic { disk.lease == HELD && (disk.owner == 0 || dead[disk.owner - WORKERS - 1]) -> disk.lease = OVER; }
	:: atomic { disk.lease == HELD && stalls > 0 -> stalls--; disk.lease = OVER; }
	od
}

/* C: operation_end, store_operation_finish, store_record_complete */
inline end_operation(state, may_retry)
{
	tx.operation = state; tx.record = state; tx.retryable = may_retry; tx.owner = 0; tx.lease = FREE; tx.generation++
}

/* C: operation_cancel_prepare, cancel, operation_end */
proctype canceller()
{
	if
	:: atomic { begin();
		if
		:: tx.operation == PROCESSING -> end_operation(FAILED, 0)
		:: else
		fi;
		commit(); }
	:: skip
	fi
}
#ifdef NO_GUARD
#define is_mine	(1)
#else
#define is_mine	(tx.operation == PROCESSING && tx.owner == me && tx.generation == generation)
#endif

/* A thread of jobs. C: operations_main, operation_work */
proctype hand(byte me)
{
	byte generation, done;
	bit mine;

end_reborn: do
	:: {
end_idle:	do
		:: disk.operation == PROCESSING && disk.lease != HELD;		/* C: store_operation_next */
			atomic { begin();					/* C: take */
				mine = (tx.operation == PROCESSING && (tx.lease == FREE || (tx.lease == OVER && tx.attempts <= TAKEOVERS)));
#ifdef NO_TAKEOVER
				mine = mine && tx.lease == FREE;
#endif
				if
				:: mine ->					/* C: store_operation_take, store_record_taken */
					if :: tx.lease == OVER -> tx.generation++; tx.attempts++ :: else fi;
					tx.owner = me; tx.lease = HELD; dead[me - WORKERS - 1] = 0;
					generation = tx.generation; done = tx.done
				:: !mine && is_given_up(tx) -> end_operation(FAILED, 1)
				:: else
				fi;
				commit(); }
			/* C: carry_out */
			do
			:: !mine -> break
			:: mine ->
				if
				:: atomic { begin();	/* C: operation_write, write_step, operation_guard, store_operation_move */
					mine = is_mine;
					if
					:: mine ->
						assert(tx.owner == me);	/* nobody else may write, and whoever lost it neither */
						tx.item[done]++; done++; tx.done = done; tx.lease = HELD;
						if :: done == ITEMS -> end_operation(SUCCESS, 0); mine = 0 :: else fi;
						commit()
					:: else -> rollback()	/* C: lost */
					fi; }
				:: atomic { failures > 0 -> failures--;		/* Left for later. C: stop_short, leave */
					begin();
					if :: is_mine -> tx.owner = 0 :: else fi;
					mine = 0;
					commit(); }
				fi
			od;
			atomic { generation = 0; done = 0; }
		od
	} unless {
		atomic {
			killed == me;
			dead[me - WORKERS - 1] = 1;
			generation = 0; done = 0; mine = 0; killed = 0;
		}
	}
	od
}
#endif

init
{
	byte i;

	atomic {
		nothing.record = NONE; nothing.operation = NONE; nothing.lease = FREE;
		copy(disk, nothing); copy(tx, nothing);
		disk.operation = NONE; tx.operation = NONE; disk.lease = FREE; tx.lease = FREE;
		i = 0;
		do
		:: i < CLIENTS -> heard[i] = NOTHING; final[i] = NOTHING; prepared[i] = NOTHING; run client(i); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < WORKERS -> run writer(i + 1); i++
		:: else -> break
		od;
		run killer();
		run clock();
#ifdef LONG
		run canceller();
		run hand(WORKERS + 1);
		run hand(WORKERS + 2);
#endif
		i = 0;
	}
}

ltl settled {
	(<> (final[0] != NOTHING && final[1] != NOTHING && final[CLIENTS - 1] != NOTHING)) &&
	([] ((disk.record == PROCESSING) -> <> (disk.record != PROCESSING)))
}
