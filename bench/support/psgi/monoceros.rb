# frozen_string_literal: true

require "fileutils"
require_relative "../build"
require_relative "xs"

module Bench
  module Psgi
    # Monoceros is Perl, and is used where it is. It needs POSIX::getpeername, which has no Debian package: this module
    # builds a copy in tmp/bench/getpeername.
    module Monoceros
      LIB = File.join(Build::ROOT, "tmp/bench/getpeername")
      MODULE = "POSIX::getpeername"
      DIRECTORY = "POSIX"

      module_function

      def libs(source) = [*(File.join(source, "lib") if source), LIB]

      # source: a checkout of Monoceros. getpeername: a checkout of POSIX::getpeername. Returns nil, or why Monoceros
      # cannot run.
      def fault(source, getpeername)
        return "--monoceros and --getpeername name its sources" unless source && getpeername

        FileUtils.rm_rf(LIB)
        FileUtils.mkdir_p(LIB)
        FileUtils.cp_r(File.join(getpeername, "lib", DIRECTORY), LIB)
        Xs.fault(LIB, MODULE, File.read(File.join(LIB, "POSIX/getpeername.pm"))[/VERSION\s*=\s*["']([^"']+)/, 1])
      rescue Errno::ENOENT => e
        e.message
      end
    end
  end
end
