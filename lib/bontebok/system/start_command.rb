# frozen_string_literal: true

require "rbconfig"

require_relative "working_directory"

module Bontebok
  # How this process was started: command, environment, working directory and umask. A deploy executes the same command
  # again. The new process finds the code, the gems and the Ruby that are installed at that time, because every name is
  # looked up again: the working directory, the command in PATH, and the Gemfile.
  module StartCommand
    # Variables with paths that Ruby and Bundler read. If such a path leads into the working directory, it leads to the
    # new release after the deploy.
    PATHS = %w[PATH RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLE_PATH BUNDLE_APP_CONFIG].freeze

    # Variables of service managers that are meant for one process only. They name sockets (AdoptedSockets) or tell the
    # process to report (ServiceManager). An executed process gets the sockets in another way.
    FOR_ONE_PROCESS = %w[SERVER_STARTER_PORT LISTEN_PID LISTEN_FDS LISTEN_FDNAMES NOTIFY_SOCKET WATCHDOG_PID
                         WATCHDOG_USEC].freeze

    class << self
      # Call this method first in a process, before anything changes ENV, the working directory, or the process title.
      def note(argv)
        @words, @env = untouched(argv) || bundled(argv) || [[RbConfig.ruby, $PROGRAM_NAME, *argv], ENV.to_h]
        @env = @env.except(*FOR_ONE_PROCESS)
        @umask = File.umask
        @directory = WorkingDirectory.name
        @moves = moves(@directory, Dir.pwd)
      end

      # Notes that the working directory has changed to `name`, which may contain a symbolic link.
      def enter(name)
        @moves = @moves.merge(moves(name, Dir.pwd))
      end

      # Executes the command in place of this process, with additional environment variables. Raises SystemCallError.
      def execute(variables)
        program, *rest = @words
        Process.exec(environment.merge(variables), [program, program], *rest,
                     chdir: @directory, umask: @umask, unsetenv_others: true)
      end

      # The environment of the start. Paths with the physical name of the working directory get the name of the link.
      def environment
        PATHS.each_with_object(@env.merge("PWD" => @directory)) do |name, env|
          @moves.each { |from, to| env[name] = env[name].gsub(from, to) } if env.key?(name)
        end
      end

      private

      # The kernel's copies of the command and the environment. The copies are overwritten when a process changes its
      # title. `bundle exec` has changed the title if it runs a Ruby program.
      def untouched(argv)
        *words, rest = File.binread("/proc/self/cmdline").split("\0", -1)
        return unless rest == "" && words.size > argv.size + 1 && words.last(argv.size) == argv.map(&:b)
        return unless File.basename(words[-1 - argv.size]) == File.basename($PROGRAM_NAME)

        [words, File.binread("/proc/self/environ").split("\0").to_h { |entry| entry.split("=", 2) }]
      rescue SystemCallError
        nil
      end

      def bundled(argv)
        [["bundle", "exec", File.basename($PROGRAM_NAME), *argv], Bundler.original_env] if defined?(Bundler)
      end

      # { pattern for the physical name => name of the link }, without the part that both names have in common.
      def moves(name, physical)
        link, path = [name, physical].map { |text| text.b.split("/") }
        link.pop && path.pop while link.any? && link.last == path.last
        return {} if path.size < 2 || link == path

        { %r{#{Regexp.escape(path.join("/"))}(?=[/:\s]|\z)}n => link.join("/") }
      end
    end
  end
end
