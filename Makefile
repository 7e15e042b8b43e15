# Makefile - `make` builds Stele into build/; `make help` lists the rest. B is where everything goes, V=1 shows commands.
B	?= build
ifeq ($(origin CC),default)
CC	:= gcc
endif
VERSION	:= 0.1
MODE	?= release
PREFIX	?= /usr/local
Q	:= $(if $(V),,@)

WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wswitch-enum \
	   -Wcast-qual -Wno-unused-parameter -Werror
LIBS_PC	:= sqlite3 libxml-2.0 jansson icu-i18n icu-uc libcrypto libcurl libargon2 libbrotlienc zlib
CFLAGS_PC := $(shell pkg-config --cflags $(LIBS_PC))
LDLIBS	:= $(shell pkg-config --libs $(LIBS_PC)) -lmd4c-html -lmd4c -lgumbo -lpthread
CPPFLAGS := -Iapp -I$(B) -D_GNU_SOURCE -DSTELE_VERSION='"$(VERSION)"' $(CFLAGS_PC)
CFLAGS	:= -std=gnu11 -g -fPIC -fvisibility=hidden -pthread $(WARN)
LDFLAGS	:= -pthread -Wl,-z,relro,-z,now

# release: what is installed. test: the same with fault points and a movable clock. san, fuzz: that, slower, under sanitizers.
ifeq ($(MODE),release)
CFLAGS	+= -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2
else ifeq ($(MODE),test)
CFLAGS	+= -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -DSTELE_TEST
else ifeq ($(MODE),san)
CFLAGS	+= -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSTELE_TEST -DARENA_DEBUG
LDFLAGS	+= -fsanitize=address,undefined
else ifeq ($(MODE),fuzz)
CFLAGS	+= -O1 -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -DSTELE_TEST -DARENA_DEBUG
LDFLAGS	+= -fsanitize=address,undefined
else
$(error MODE is release, test, san or fuzz)
endif

KORE_SOURCE := /usr/share/kore
KORE_FLAGS := $(shell cat $(KORE_SOURCE)/features 2>/dev/null)

FOLDERS	:= base core db store render actions jobs http cli
src	= $(wildcard app/$(1)/*.c)
obj	= $(patsubst app/%.c,$(B)/obj/%.o,$(call src,$(1)))
SQL	:= $(sort $(wildcard app/store/*.sql))
# Lower folders later: archives are searched from left to right.
STACK	:= $(foreach f,actions store render core db base,$(B)/lib$(f).a)

.PHONY: all help test-build san kore-san unit unit-bins lint fuzz fuzz-bins replay replay-bins crash bench install clean FORCE
all: $(B)/stele $(B)/stele.so

help:
	@echo 'make              build/stele and build/stele.so'
	@echo 'make test-build   the same with fault points, into build/test'
	@echo 'make san          under sanitizers, into build/san, with a Kore built alike in build/san/kore'
	@echo 'make unit         unit tests (MODE=san B=build/san: under sanitizers)'
	@echo 'make lint         layers, shellcheck, cppcheck, clang-tidy'
	@echo 'make fuzz         every fuzz target for FUZZ_SECONDS (60)'
	@echo 'make replay       the inputs that fuzzing left in tests/fuzz/corpus (best with MODE=san B=build/san)'
	@echo 'make crash        kill a site under load CRASH_KILLS (10000) times and count what is lost or doubled'
	@echo 'make bench        measure (tests/bench)'
	@echo 'make install      into $$(DESTDIR)$(PREFIX)'

test-build:
	$(Q)$(MAKE) --no-print-directory MODE=test B=$(B)/test all
san:
	$(Q)$(MAKE) --no-print-directory MODE=san B=$(B)/san all kore-san

# What else than the sources decides what an object is: another compiler or mode makes everything anew.
FLAGS	:= $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(KORE_FLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS))' > $@

define compile
@mkdir -p $(@D)
$(if $(V),,@echo "  CC $<")
$(Q)$(CC) $(CPPFLAGS) $(1) $(CFLAGS) -MMD -MP -c -o $@ $<
endef

$(B)/gen/sql.h: $(SQL) app/store/sql.awk
	@mkdir -p $(@D)
	$(Q)awk -v out=h -f app/store/sql.awk $(SQL) > $@.tmp && mv $@.tmp $@
$(B)/gen/sql.c: $(SQL) app/store/sql.awk
	@mkdir -p $(@D)
	$(Q)awk -v out=c -f app/store/sql.awk $(SQL) > $@.tmp && mv $@.tmp $@
$(B)/obj/gen/sql.o: $(B)/gen/sql.c $(B)/gen/sql.h $(B)/flags
	$(call compile)
$(B)/obj/http/%.o: app/http/%.c $(B)/flags | $(B)/gen/sql.h
	$(call compile,$(KORE_FLAGS))
$(B)/obj/%.o: app/%.c $(B)/flags | $(B)/gen/sql.h
	$(call compile)

define archive
$(B)/lib$(1).a: $(call obj,$(1)) $(if $(filter db,$(1)),$(B)/obj/gen/sql.o)
	$(Q)rm -f $$@ && ar rcs $$@ $$(filter %.o,$$^)
endef
$(foreach f,$(FOLDERS),$(eval $(call archive,$(f))))

$(B)/stele: $(B)/libcli.a $(B)/libjobs.a $(STACK)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ -Wl,--whole-archive $(B)/libcli.a -Wl,--no-whole-archive $(B)/libjobs.a $(STACK) $(LDLIBS)
# nodelete: Kore's reload must not take the code away from under running threads.
$(B)/stele.so: $(B)/libhttp.a $(STACK)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,nodelete -o $@ -Wl,--whole-archive $(B)/libhttp.a -Wl,--no-whole-archive $(STACK) $(LDLIBS)
	@# A module may lack symbols; what Kore does not have either would only show when it is started.
	@nm -D --defined-only "$$(command -v kore)" | awk '{ print $$3 }' | sort -u > $@.kore
	@ldd -r $@ 2>&1 | sed -n 's/.*undefined symbol: \([^[:space:],]*\).*/\1/p' | sort -u | comm -23 - $@.kore > $@.undefined
	@[ ! -s $@.undefined ] || { echo "$@: undefined symbols:"; cat $@.undefined; rm -f $@; exit 1; }

# A sanitized module needs a program that was linked with the sanitizers first.
kore-san: $(B)/kore/kore
$(B)/kore/kore:
	@mkdir -p $(B)/kore
	$(Q)cp -r $(KORE_SOURCE)/. $(B)/kore/
	$(if $(V),,@echo "  MAKE $@")
	$(Q)$(MAKE) --no-print-directory -C $(B)/kore CC="gcc -fsanitize=address,undefined" B= MODE= V= PGSQL=1 TASKS=1 kore > $(B)/kore/log 2>&1 \
	    || { tail -n 20 $(B)/kore/log; exit 1; }

# Unit tests: tests/unit/FOLDER/test_NAME.c links FOLDER and what lies below it.
UNIT	:= $(wildcard tests/unit/*/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT))
UNIT_LIBS := $(foreach f,cli jobs http,$(B)/lib$(f).a) $(STACK)
$(B)/unit/%: tests/unit/%.c $(UNIT_LIBS) $(B)/flags | $(B)/gen/sql.h
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) -Itests/unit -o $@ $< $(UNIT_LIBS) -lcmocka -lbrotlidec $(LDLIBS)
unit-bins: $(UNIT_BIN)
unit: $(UNIT_BIN)
	$(Q)tests/tools/unit.sh $(UNIT_BIN)

lint:
	$(Q)tests/tools/lint.sh $(B)

# Fuzz targets: tests/fuzz/fuzz_NAME.c; inputs that are kept lie in tests/fuzz/corpus/NAME/. `replay` runs those without libFuzzer.
FUZZ	:= $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ))
REPLAY_BIN := $(patsubst tests/fuzz/fuzz_%.c,$(B)/replay/%,$(FUZZ))
FUZZ_SECONDS ?= 60
$(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(UNIT_LIBS) $(B)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(UNIT_LIBS) $(LDLIBS)
$(B)/replay/%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(UNIT_LIBS) $(B)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< tests/fuzz/replay.c $(UNIT_LIBS) $(LDLIBS)
fuzz-bins: $(FUZZ_BIN)
replay-bins: $(REPLAY_BIN)
fuzz:
	$(Q)$(MAKE) --no-print-directory CC=clang MODE=fuzz B=$(B)/fuzz fuzz-bins
	$(Q)tests/tools/fuzz.sh $(FUZZ_SECONDS) $(patsubst $(B)/fuzz/%,$(B)/fuzz/fuzz/%,$(FUZZ_BIN))
replay: $(REPLAY_BIN)
	$(Q)tests/tools/replay.sh $(REPLAY_BIN)

CRASH_KILLS ?= 10000
crash: test-build
	$(Q)STELE_CRASH_KILLS=$(CRASH_KILLS) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -s -p no:cacheprovider tests/crash

bench: all
	$(Q)conf/packages.sh install build bench
	$(Q)/usr/bin/python3 tests/bench/bench.py $(B)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/stele $(DESTDIR)$(PREFIX)/share/stele $(DESTDIR)$(PREFIX)/share/doc/stele
	install -m 755 $(B)/stele $(DESTDIR)$(PREFIX)/bin/stele
	install -m 644 $(B)/stele.so $(DESTDIR)$(PREFIX)/lib/stele/stele.so
	cp -r templates assets migrations $(DESTDIR)$(PREFIX)/share/stele/
	install -m 644 README.md conf/* $(DESTDIR)$(PREFIX)/share/doc/stele/

clean:
	rm -rf $(B)

-include $(shell find $(B)/obj $(B)/unit -name '*.d' 2>/dev/null)
