# frozen_string_literal: true

require "fileutils"
require_relative "../build"
require_relative "xs"

module Bench
  module Psgi
    # Builds a copy of Gazelle in tmp/bench/gazelle. Gazelle's repository names picohttpparser as a submodule, and does
    # not have its files.
    module Gazelle
      LIB = File.join(Build::ROOT, "tmp/bench/gazelle")
      HANDLER = "lib/Plack/Handler"
      FILES = %w[Gazelle.pm Gazelle.xs ppport.h].freeze
      PLACE = File.join(LIB, "Plack/Handler")
      # The option that Build.PL adds.
      OPTION = "-DHAVE_ACCEPT4"

      module_function

      # source: a checkout of Gazelle. parser: a directory with picohttpparser.c. Returns nil, or why nothing is built.
      def fault(source, parser)
        return "--gazelle and --picohttpparser name its sources" unless source && parser

        copy(source, parser)
        version = File.read(File.join(LIB, "Gazelle.pm"))[/VERSION = "([^"]+)"/, 1]
        Xs.fault(LIB, "Plack::Handler::Gazelle", version, OPTION)
      rescue Errno::ENOENT => e
        e.message
      end

      def copy(source, parser)
        FileUtils.rm_rf(LIB)
        FileUtils.mkdir_p(File.join(PLACE, "picohttpparser"))
        FileUtils.cp(File.join(source, "lib/Gazelle.pm"), LIB)
        FileUtils.cp(FILES.map { |name| File.join(source, HANDLER, name) }, PLACE)
        FileUtils.cp(%w[c h].map { |kind| File.join(parser, "picohttpparser.#{kind}") },
                     File.join(PLACE, "picohttpparser"))
      end

      private_class_method :copy
    end
  end
end
