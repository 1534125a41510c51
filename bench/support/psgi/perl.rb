# frozen_string_literal: true

require "open3"

module Bench
  module Psgi
    # The perl that is installed.
    module Perl
      VERSIONS = 'for (@ARGV) { (my $file = "$_.pm") =~ s{::}{/}g; ' \
                 'print "$_ ", (eval { require $file } ? $_->VERSION // "?" : "missing"), "\n" }'
      CONFIG = 'print map { "$Config{$_}\n" } @ARGV'
      MISSING = "missing"
      UNKNOWN = "?"

      module_function

      # { module => its version, UNKNOWN or MISSING }
      def versions(env, modules)
        output, = Open3.capture2(env, "perl", "-e", VERSIONS, *modules, err: File::NULL)
        output.lines.to_h(&:split)
      rescue Errno::ENOENT
        abort("perl is not installed")
      end

      def version = Open3.capture2("perl", "-e", 'printf "perl %vd", $^V').first

      # The values with which perl was built.
      def config(*names) = Open3.capture2("perl", "-MConfig", "-e", CONFIG, *names).first.lines(chomp: true)

      # Runs the commands in the directory. Returns nil, or the end of the output of the first command that fails.
      def fault_of(directory, *commands)
        commands.each do |command|
          output, status = Open3.capture2e(*command, chdir: directory)
          return "#{command.first(2).join(' ')} fails: #{output.lines.last(5).join.strip}" unless status.success?
        end
        nil
      rescue Errno::ENOENT => e
        e.message
      end
    end
  end
end
