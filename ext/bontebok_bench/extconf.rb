# frozen_string_literal: true

# Builds bontebok-bench, the program behind `bontebok bench`. mkmf can only make shared objects, so this script writes
# the Makefile. The Makefile has the targets that RubyGems calls (clean, the default target, install) and mkmf's other
# targets. `install` puts the program where an extension's shared object would go, beside the gem's Ruby files.
#
#   ruby ext/bontebok_bench/extconf.rb && make && make install sitearchdir=lib

require "pathname"
require "rbconfig"

abort "bontebok bench needs Linux: it is built on epoll" unless RbConfig::CONFIG["host_os"].include?("linux")

# The paths are relative, because make cannot read a path with a space, and the path of a checkout may have one.
source_directory = Pathname(__dir__).join("../../load/src").relative_path_from(Dir.pwd).to_s
sources = Dir[File.join(source_directory, "**/*.c")]
headers = Dir[File.join(source_directory, "**/*.h")]
abort "No sources in #{source_directory}" if sources.empty?

File.write("Makefile", <<~MAKEFILE)
  CC         = #{ENV.fetch("CC", RbConfig::CONFIG["CC"])}
  CFLAGS     = #{ENV.fetch("CFLAGS", "-O2")}
  LDFLAGS    = #{ENV.fetch("LDFLAGS", nil)}
  INSTALL    = #{RbConfig::CONFIG["INSTALL"]}
  sitearchdir = #{RbConfig::CONFIG["sitearchdir"]}

  PROGRAM    = bontebok-bench
  SOURCES    = #{sources.join(" ")}
  HEADERS    = #{headers.join(" ")}
  DIRECTORY     = $(DESTDIR)$(sitearchdir)/bontebok

  all: $(PROGRAM)

  $(PROGRAM): $(SOURCES) $(HEADERS) Makefile
  \t$(CC) -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -fstack-protector-strong -I#{source_directory} $(CFLAGS) \\
  \t  $(SOURCES) $(LDFLAGS) -pthread -lm -o $@

  install install-so: $(PROGRAM)
  \tmkdir -p $(DIRECTORY)
  \t$(INSTALL) -m 755 $(PROGRAM) $(DIRECTORY)/$(PROGRAM)

  clean mostlyclean:
  \trm -f $(PROGRAM)

  distclean realclean: clean
  \trm -f Makefile

  static install-rb:

  .PHONY: all install install-so install-rb static clean mostlyclean distclean realclean
MAKEFILE
