# core/libraries.mk: the libraries that decompress files, as far as they are here
#
# Sets LIBRARY_CFLAGS and LIBRARY_LIBS. `make WITHOUT='libisal zlib'` builds as if these
# were absent: what only they read is then an error that names the Debian package.

PKG_CONFIG ?= pkg-config
WITHOUT ?=

# What pkg-config knows; and bzlib.h, which many distributions have without a file for it.
LIBRARY_NAMES := $(foreach name,libisal zlib libzstd liblz4 liblzma,$(if \
	$(filter $(name),$(WITHOUT)),,$(shell $(PKG_CONFIG) --exists $(name) 2>/dev/null && echo $(name))))
HASH := \#
# A linker that root runs may change the rights of /dev/null.
HAVE_BZLIB := $(if $(filter bzip2,$(WITHOUT)),,$(shell out=$$(mktemp); printf '%s\n' \
	'$(HASH)include <stdio.h>' '$(HASH)include <bzlib.h>' \
	'int main(void) { return BZ2_bzlibVersion() == 0; }' | \
	$(CC) -x c -o "$$out" - -lbz2 2>/dev/null && echo yes; rm -f "$$out"))

# ISA-L reads gzip some four times as fast as zlib.
LIBRARY_USED := $(if $(filter libisal,$(LIBRARY_NAMES)),$(filter-out zlib,$(LIBRARY_NAMES)),$(LIBRARY_NAMES))

LIBRARY_CFLAGS := $(foreach name,$(LIBRARY_USED),-DHAVE_$(shell echo $(name) | tr a-z A-Z)) \
	$(if $(HAVE_BZLIB),-DHAVE_BZLIB)
LIBRARY_LIBS := $(if $(HAVE_BZLIB),-lbz2)
ifneq ($(strip $(LIBRARY_USED)),)
LIBRARY_CFLAGS += $(shell $(PKG_CONFIG) --cflags $(LIBRARY_USED))
LIBRARY_LIBS += $(shell $(PKG_CONFIG) --libs $(LIBRARY_USED))
endif
