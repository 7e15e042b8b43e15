# Makefile - builds Stele: `make`, `make san`, `make test-build`, `make unit`. B is where everything goes.
B	?= build
CC	?= gcc
VERSION	:= 0.1
MODE	?= release

WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wswitch-enum \
	   -Wcast-qual -Wno-unused-parameter -Werror
LIBS_PC	:= sqlite3 libxml-2.0 jansson icu-i18n icu-uc libcrypto libcurl libargon2 libbrotlienc zlib
CFLAGS_PC := $(shell pkg-config --cflags $(LIBS_PC))
LDLIBS	:= $(shell pkg-config --libs $(LIBS_PC)) -lmd4c -lgumbo -lpthread
CPPFLAGS := -Iapp -I$(B) -D_GNU_SOURCE -DSTELE_VERSION='"$(VERSION)"' $(CFLAGS_PC)
CFLAGS	:= -std=gnu11 -g -fPIC -fvisibility=hidden -pthread $(WARN)
LDFLAGS	:= -pthread -Wl,-z,relro,-z,now

ifeq ($(MODE),release)
CFLAGS	+= -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2
else ifeq ($(MODE),test)		# fault points and the movable clock; otherwise as released
CFLAGS	+= -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -DSTELE_TEST
else ifeq ($(MODE),san)
CFLAGS	+= -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSTELE_TEST -DARENA_DEBUG
LDFLAGS	+= -fsanitize=address,undefined
else
$(error MODE is release, test or san)
endif

KORE_FLAGS := $(shell cat /usr/share/kore/features 2>/dev/null)

FOLDERS	:= base core db store render actions jobs http cli
src	= $(wildcard app/$(1)/*.c)
obj	= $(patsubst app/%.c,$(B)/obj/%.o,$(call src,$(1)))
LIBS	:= $(foreach f,base core db store render actions,$(B)/lib$(f).a)

SQL	:= $(sort $(wildcard app/store/*.sql))

.PHONY: all clean unit test-build san
all: $(B)/stele $(B)/stele.so

$(B)/gen/sql.h: $(SQL) tools/sql.awk
	@mkdir -p $(@D)
	awk -v out=h -f tools/sql.awk $(SQL) > $@.tmp && mv $@.tmp $@
$(B)/gen/sql.c: $(SQL) tools/sql.awk
	@mkdir -p $(@D)
	awk -v out=c -f tools/sql.awk $(SQL) > $@.tmp && mv $@.tmp $@
$(B)/obj/gen/sql.o: $(B)/gen/sql.c $(B)/gen/sql.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/obj/http/%.o: app/http/%.c | $(B)/gen/sql.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(KORE_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/obj/%.o: app/%.c | $(B)/gen/sql.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

define archive
$(B)/lib$(1).a: $(call obj,$(1)) $(if $(filter db,$(1)),$(B)/obj/gen/sql.o)
	rm -f $$@ && ar rcs $$@ $$(filter %.o,$$^)
endef
$(foreach f,$(FOLDERS),$(eval $(call archive,$(f))))

# Lower folders later: archives are searched from left to right.
STACK	:= $(B)/libactions.a $(B)/libstore.a $(B)/librender.a $(B)/libcore.a $(B)/libdb.a $(B)/libbase.a

$(B)/stele: $(B)/libcli.a $(B)/libjobs.a $(STACK)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ -Wl,--whole-archive $(B)/libcli.a -Wl,--no-whole-archive $(B)/libjobs.a $(STACK) $(LDLIBS)
$(B)/stele.so: $(B)/libhttp.a $(STACK)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,nodelete -o $@ -Wl,--whole-archive $(B)/libhttp.a -Wl,--no-whole-archive $(STACK) $(LDLIBS)

# Unit tests: tests/unit/FOLDER/test_NAME.c links FOLDER and what lies below it.
UNIT	:= $(wildcard tests/unit/*/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT))
$(B)/unit/%: tests/unit/%.c $(STACK) | $(B)/gen/sql.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -Itests/unit -o $@ $< $(STACK) -lcmocka $(LDLIBS)
unit: $(UNIT_BIN)
	@for t in $(UNIT_BIN); do echo "== $$t"; $$t || exit 1; done

clean:
	rm -rf $(B)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
