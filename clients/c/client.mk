# clients/c/client.mk: builds a client in C; a client's Makefile includes it.
#
#   PROGRAM   what to build, from src/*.c and the files here
#   LIBS      what else to link, beside libpq
#
#   make OUT=FOLDER     build FOLDER/$(PROGRAM) against the libpq of $(PG_CONFIG)
#   make clean OUT=FOLDER

COMMON := $(dir $(lastword $(MAKEFILE_LIST)))src
OUT ?= ../../build/clients
override OUT := $(abspath $(OUT))
PG_CONFIG ?= pg_config

CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla
LIBPQ_DIR := $(shell $(PG_CONFIG) --libdir)

ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -I$(COMMON) \
	-I$(shell $(PG_CONFIG) --includedir) $(WARNINGS) $(CFLAGS)

OBJECTS = $(patsubst %.c,$(OUT)/$(PROGRAM).o/%.o, \
	$(notdir $(wildcard src/*.c $(COMMON)/*.c)))
VPATH = src $(COMMON)

all: $(OUT)/$(PROGRAM)

$(OUT)/$(PROGRAM): $(OBJECTS)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ \
		-L$(LIBPQ_DIR) -Wl,-rpath,$(LIBPQ_DIR) -lpq $(LIBS)

$(OUT)/$(PROGRAM).o/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

clean:
	rm -rf $(OUT)/$(PROGRAM) $(OUT)/$(PROGRAM).o

-include $(OBJECTS:.o=.d)

.PHONY: all clean
