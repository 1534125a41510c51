# frozen_string_literal: true

require "fileutils"
require "shellwords"
require_relative "../build"
require_relative "perl"

module Bench
  module Psgi
    # Builds a copy of Gazelle in tmp/bench/gazelle. Gazelle's repository names picohttpparser as a submodule, and does
    # not have its files. Build.PL needs modules that most machines do not have, so this module calls the compiler
    # itself, with perl's own options and the option that Build.PL adds.
    module Gazelle
      LIB = File.join(Build::ROOT, "tmp/bench/gazelle")
      HANDLER = "lib/Plack/Handler"
      FILES = %w[Gazelle.pm Gazelle.xs ppport.h].freeze
      LIBRARY = File.join(LIB, "auto/Plack/Handler/Gazelle/Gazelle.so")
      PLACE = File.join(LIB, "Plack/Handler")

      module_function

      # source: a checkout of Gazelle. parser: a directory with picohttpparser.c. Returns nil, or why nothing is built.
      def fault(source, parser)
        return "--gazelle and --picohttpparser name its sources" unless source && parser

        copy(source, parser)
        Perl.fault_of(PLACE, ["xsubpp", "-output", "Gazelle.c", "Gazelle.xs"], compiler)
      rescue Errno::ENOENT => e
        e.message
      end

      def copy(source, parser)
        FileUtils.rm_rf(LIB)
        FileUtils.mkdir_p([File.dirname(LIBRARY), File.join(PLACE, "picohttpparser")])
        FileUtils.cp(File.join(source, "lib/Gazelle.pm"), LIB)
        FileUtils.cp(FILES.map { |name| File.join(source, HANDLER, name) }, PLACE)
        FileUtils.cp(%w[c h].map { |kind| File.join(parser, "picohttpparser.#{kind}") },
                     File.join(PLACE, "picohttpparser"))
      end

      def compiler
        version = File.read(File.join(LIB, "Gazelle.pm"))[/VERSION = "([^"]+)"/, 1]
        cc, flags, optimize, shared, link, core = Perl.config("cc", "ccflags", "optimize", "cccdlflags", "lddlflags",
                                                              "archlibexp")
        [*cc.split, *[flags, optimize, shared, link].flat_map(&:shellsplit), "-I#{core}/CORE", "-DHAVE_ACCEPT4",
         "-DVERSION=\"#{version}\"", "-DXS_VERSION=\"#{version}\"", "Gazelle.c", "-o", LIBRARY]
      end

      private_class_method :copy, :compiler
    end
  end
end
