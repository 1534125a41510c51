# frozen_string_literal: true

require "rbconfig"

require_relative "start_command/relative_names"
require_relative "working_directory"

module Bontebok
  # How this process was started: command, environment, working directory and umask. A deploy executes the same command
  # again. The new process finds the code, the gems and the Ruby that are installed at that time, because every name is
  # looked up again: the working directory, the command in PATH, and the Gemfile.
  module StartCommand
    # Variables with paths that Ruby and Bundler read. Those below the working directory lead to the new release later.
    PATHS = %w[PATH RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLE_PATH BUNDLE_APP_CONFIG].freeze

    # Variables of service managers that are meant for one process only. They name sockets (AdoptedSockets) or tell the
    # process to report (ServiceManager). An executed process gets the sockets in another way.
    FOR_ONE_PROCESS = %w[SERVER_STARTER_PORT LISTEN_PID LISTEN_FDS LISTEN_FDNAMES NOTIFY_SOCKET WATCHDOG_PID
                         WATCHDOG_USEC BONTEBOK_SUPERVISOR_STATE BONTEBOK_LISTENERS BONTEBOK_CLIENT
                         BONTEBOK_DRAINS BONTEBOK_TOTALS BONTEBOK_IGNORED].freeze

    # Ruby's flags -C and -X, which change the directory before the program begins. The command is executed again in the
    # directory that they have led to, where a relative name would lead to another directory.
    DIRECTORY_FLAG = /\A-[CX](.*)\z/mn
    private_constant :DIRECTORY_FLAG

    class << self
      # Called first, before ENV, the working directory or the process title change. paths, found: see RelativeNames.
      def note(argv, paths: {}, found: nil)
        words, env = untouched(argv) || bundled(argv) || [[RbConfig.ruby, $PROGRAM_NAME, *argv], ENV.to_h]
        own = with_full_directory(words.first(words.size - argv.size), env["PWD"])
        keep([*own, *words.last(argv.size)], env, arguments: argv.size, paths: paths, found: found)
      end

      # Keeps this command and this environment, instead of .note.
      def keep(words, env, arguments: 0, **relative)
        @words = words
        @own = words.first(words.size - arguments)
        @env = env.except(*FOR_ONE_PROCESS)
        @umask = File.umask
        @directory = WorkingDirectory.name
        @moves = moves(@directory, Dir.pwd)
        @script = @own.drop(1).find { |word| !word.start_with?("-") && word.include?("/") && File.file?(word) }
        @gemfile = gemfile
        searched = @gemfile unless @env.key?("BUNDLE_GEMFILE")
        @relative = RelativeNames.new(words, @env, arguments: arguments, gemfile: searched, **relative)
      end

      # False if no command is known that would start this process again, for example under rackup.
      def noted? = !@words.nil?

      # Notes that the working directory has changed to `name`, which may contain a symbolic link.
      def enter(name)
        @entered = name
        @moves = @moves.merge(moves(name, Dir.pwd))
      end

      # Executes the command in place of this process, with additional environment variables. Raises SystemCallError.
      def execute(variables)
        check
        directory, words, = command
        run(words, directory, environment.merge(variables))
      end

      # Raises Errno::ENOENT with the name of a file or directory without which the command cannot be executed.
      def check
        directory, words, = command
        start = again(@directory)
        names = [directory, *(File.absolute_path(@script, start) if @script), *(again(@gemfile) if @gemfile)]
        names += @relative.files(start) unless directory == start
        missing = names.find { |path| !File.exist?(path) }
        missing ||= words.first unless program(environment)
        raise Errno::ENOENT, missing if missing
      end

      # The directory in which the command is executed.
      def directory = command.first

      # The environment of the start. Paths with the physical name of the working directory get the name of the link.
      def environment
        directory, _, env = command
        env.merge("PWD" => directory, **paths(env) { |text| renamed(text, @moves.invert) })
      end

      # The command that leads to the code of this process, even if the links lead to another release now: a Hash with
      # values of JSON. See .execute_former.
      def fixed
        directory, words, env = command(@moves)
        { "words" => words.map { |word| renamed(word, @moves) },
          "env" => { "PWD" => directory, **paths(env) { |text| renamed(text, @moves) } } }
      end

      # Executes the command that .fixed has returned in a former program of this process. Raises SystemCallError.
      def execute_former(fixed, variables)
        env = fixed.fetch("env")
        run(fixed.fetch("words"), env.fetch("PWD"), @env.merge(env, variables))
      end

      # The path that the executed program has for this path of a file in this process.
      def again(path) = renamed(path, @moves.invert)

      # The files and directories from which the executed program takes its code, as far as the command names them. The
      # options of Bontebok name none: only a master loads the application and the configuration. Paths of the
      # environment are among them even if they are missing, because somebody can create them.
      def files
        env = environment
        options = env["RUBYOPT"].to_s.split(/\s|-[rI]/).reject(&:empty?)
        paths = env.values_at(*PATHS - ["RUBYOPT"]).compact.flat_map { |text| text.split(":", -1) }
        words = command[1].first(@own.size).map { |word| word.sub(/\A-[rI]/, "") }
        named = full([*program(env), *words, *options]).select { |path| File.exist?(path) }
        named + full(paths)
      end

      private

      # Returns the words with one full name of the directory. It may contain a symbolic link, which leads to another
      # directory later. words: Ruby, its flags, and the program. shell: the directory of the shell (PWD), or nil.
      def with_full_directory(words, shell)
        names = []
        rest = words.dup
        others = []
        while (word = rest.shift)
          next others << word unless (name = word.b[DIRECTORY_FLAG, 1])

          names << (name.empty? ? rest.shift.to_s : name)
        end
        names.empty? ? words : [others.first, "-C", full_directory(names, shell), *others.drop(1)]
      end

      def full_directory(names, shell)
        name = names.reduce(shell || "/") { |base, one| File.absolute_path(one.b, base.b) }
        File.identical?(name, ".") ? name : Dir.pwd
      end

      def full(names)
        names.map { |name| File.expand_path(name, directory) }
      end

      # [directory, words, environment]. The directory is that of the start, in the name of the link. If it has gone, it
      # is the working directory of the server. names: see .renamed.
      def command(names = @moves.invert)
        start = renamed(@directory, names)
        return [start, @words, @env] if File.directory?(start)

        [@entered ? renamed(@entered, names) : start, @relative.words(start), @relative.env(start)]
      end

      # The Gemfile that Bundler has found; nil: the command does not use Bundler.
      def gemfile
        path = ENV.fetch("BUNDLE_GEMFILE", "") if defined?(Bundler)
        File.absolute_path(path) if path && File.file?(path)
      end

      def run(words, directory, env)
        program, *rest = words
        Process.exec(env, [program, program], *rest, chdir: directory, umask: @umask, unsetenv_others: true)
      end

      # { name => the block's result } for the variables of PATHS.
      def paths(env, &)
        env.slice(*PATHS).transform_values(&)
      end

      # The file that the kernel executes; nil: there is none.
      def program(env)
        directory, (name,) = command
        places = name.include?("/") ? [name] : env.fetch("PATH", "").split(":").map { |place| "#{place}/#{name}" }
        places.find { |path| File.executable?(File.absolute_path(path, directory)) }
      end

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

      # { name of the link => physical name }, without the part that both names have in common.
      def moves(name, physical)
        link, path = [name, physical].map { |text| text.b.split("/") }
        link.pop && path.pop while link.any? && link.last == path.last
        path.size < 2 || link == path ? {} : { link.join("/") => path.join("/") }
      end

      # names: { name in the text => other name }
      def renamed(text, names)
        names.reduce(text.b) { |result, (from, to)| result.gsub(%r{#{Regexp.escape(from)}(?=[/:\s]|\z)}n, to) }
             .force_encoding(Encoding::UTF_8)
      end
    end
  end
end
