# frozen_string_literal: true

require "fileutils"
require "shellwords"
require_relative "perl"

module Bench
  module Psgi
    # Builds a Perl module in C without its Build.PL, which needs modules that most machines do not have: calls the
    # compiler with perl's own options.
    module Xs
      module_function

      # lib: a directory that PERL5LIB can name; the module's files are there already. name: "POSIX::getpeername".
      # version: the one that the module asks for. Returns nil, or why it is not built.
      def fault(lib, name, version, *options)
        *directories, last = name.split("::")
        library = File.join(lib, "auto", *directories, last, "#{last}.so")
        FileUtils.mkdir_p(File.dirname(library))
        Perl.fault_of(File.join(lib, *directories), ["xsubpp", "-output", "#{last}.c", "#{last}.xs"],
                      [*compiler, *options, *%w[VERSION XS_VERSION].map { |word| "-D#{word}=\"#{version}\"" },
                       "#{last}.c", "-o", library])
      end

      def compiler
        cc, flags, optimize, shared, link, core = Perl.config("cc", "ccflags", "optimize", "cccdlflags", "lddlflags",
                                                              "archlibexp")
        [*cc.split, *[flags, optimize, shared, link].flat_map(&:shellsplit), "-I#{core}/CORE"]
      end

      private_class_method :compiler
    end
  end
end
