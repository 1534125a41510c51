# frozen_string_literal: true

# Builds the extension bontebok/bontebok: the files of this directory and of the core become one shared object. Works in
# a checkout, in an installed gem and from a build directory elsewhere, because every path begins with $(srcdir).
#
#   ruby ext/bontebok/extconf.rb [--enable-werror] [--enable-portable]
#
#     --enable-werror     warnings are errors, for the project's own builds
#     --enable-portable   builds on Linux what other systems get: poll(2) instead of epoll, one process

require "etc"
require "mkmf"

COMPILER = MakeMakefile::CONFIG["CC"].split.first
unless find_executable0(COMPILER)
  abort "Bontebok needs a C compiler, and there is no #{COMPILER}. Debian: apt install build-essential"
end

CORE = "../../core"

# Calls of Linux that the core uses (core/src/sockets, core/src/system). FreeBSD has some of them.
LINUX_CALLS = { "epoll_create1" => "sys/epoll.h", "eventfd" => "sys/eventfd.h", "accept4" => "sys/socket.h",
                "memfd_create" => "sys/mman.h", "prctl" => "sys/prctl.h" }.freeze
MISSING = LINUX_CALLS.reject { |function, header| have_func(function, header) }.keys
PORTABLE = enable_config("portable", false) || MISSING.any?
# On Linux, a server with one process would be a surprise.
if MISSING.any? && RUBY_PLATFORM.include?("linux") && !enable_config("portable", false)
  abort "Bontebok needs these calls of Linux: #{MISSING.join(', ')}; --enable-portable builds a server of one process"
end

have_func("rb_fiber_scheduler_current", ["ruby.h", "ruby/fiber/scheduler.h"])

LAYERS = Dir.children(File.join(__dir__, CORE, "src")).sort

PARTS = Dir.children(__dir__).select { |name| File.directory?(File.join(__dir__, name)) }.sort
OWN = [".", *PARTS].map { |part| File.join(__dir__, part) }

$srcs = [*OWN, *LAYERS.map { |layer| File.join(__dir__, CORE, "src", layer) }]
        .flat_map { |directory| Dir[File.join(directory, "*.c")] }.map { |file| File.basename(file) }.sort
PARTS.each { |part| $VPATH << "$(srcdir)/#{part}" }
LAYERS.each { |layer| $VPATH << "$(srcdir)/#{CORE}/src/#{layer}" }
# The core's own files need the include path core/src. The binding includes only bontebok.h, and a lint checks this.
$INCFLAGS << " -I$(srcdir) -I$(srcdir)/#{CORE}/include -I$(srcdir)/#{CORE}/src"

# Ruby's own list of warnings is not used, because it is for C90 and differs from release to release. The CFLAGS of some
# builds of Ruby do not name $warnflags.
$warnflags = ""
warnings = "-Wall -Wextra -Wshadow -Wno-unused-parameter#{" -Werror" if enable_config("werror", false)}"

$CPPFLAGS << " -D_GNU_SOURCE#{' -DBB_PORTABLE' if PORTABLE} -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
$CFLAGS << " -std=c11 -O2 -fvisibility=hidden -fstack-protector-strong #{warnings}"

# RubyGems and Bundler run make without -j. The lines need GNU make. A number of jobs that the user has chosen is kept.
# make forgets a -j1, so MAKEFLAGS=-j1 is read here.
create_makefile("bontebok/bontebok") do |lines|
  next lines if !RUBY_PLATFORM.include?("linux") || ENV["MAKEFLAGS"].to_s.include?("j")

  lines << "\nifeq (,$(findstring j,$(MAKEFLAGS)))\nMAKEFLAGS += -j#{Etc.nprocessors}\nendif\n"
end
