# frozen_string_literal: true

require_relative "replaced_methods"

module Bontebok
  # The server raises its soft limit of open files. Commands that the application executes get the limit with which the
  # server was started: see docs/decisions/0010-commands-have-the-limit-of-the-start.md. For this, the module adds the
  # option rlimit_nofile to each call that executes a command.
  #
  # A process that is only forked keeps the raised limit, because it has the server's descriptors and may need more.
  module CommandLimits
    # Ruby's own methods are still available under names with this prefix.
    KEPT = "bontebok_kept_"

    # Methods for Kernel and Process.
    module Commands
      def spawn(*arguments)
        bontebok_kept_spawn(*CommandLimits.add_to(arguments))
      end

      # The option changes the limit of this process. If the command cannot be executed, the limit is restored.
      def exec(*arguments)
        own = Process.getrlimit(:NOFILE)
        bontebok_kept_exec(*CommandLimits.add_to(arguments))
      ensure
        Process.setrlimit(:NOFILE, *own)
      end
    end

    # Methods for Kernel alone.
    module ShellCommands
      def system(*arguments)
        bontebok_kept_system(*CommandLimits.add_to(arguments))
      end

      # Backticks take no options, so this method calls IO.popen. An exception ends the read without a wait, as in Ruby.
      def `(command)
        return __send__(:"bontebok_kept_`", command) unless CommandLimits.wanted?(command)

        output = IO.popen(command)
        text = output.read
        output.close
        text
      end
    end

    # Methods for IO.
    module Pipes
      def popen(*arguments, &block)
        limited = CommandLimits.wanted?(arguments.grep_v(Hash).first)
        bontebok_kept_popen(*(limited ? CommandLimits.add_to(arguments) : arguments), &block)
      end
    end
    private_constant :Commands, :ShellCommands, :Pipes

    class << self
      # soft: the limit for commands. raised: the limit of this process from now on.
      def install(soft, raised)
        again = @soft
        @soft = soft
        @raised = raised
        return if again

        ReplacedMethods.replace(Commands, KEPT, Kernel, Kernel.singleton_class, Process.singleton_class)
        ReplacedMethods.replace(ShellCommands, KEPT, Kernel, Kernel.singleton_class)
        ReplacedMethods.replace(Pipes, KEPT, IO.singleton_class)
      end

      # Returns the arguments with the option rlimit_nofile. If the application has set a limit, for this process or for
      # the command, the application's limit stays.
      def add_to(arguments)
        soft, hard = Process.getrlimit(:NOFILE)
        return arguments unless soft == @raised

        limit = { rlimit_nofile: [[@soft, hard].min, hard] }
        *others, last = arguments
        options = last if last.is_a?(Hash) && others.any?
        options ? [*others, limit.merge(options)] : [*arguments, limit]
      end

      # True if the text or array is a command. "-" means a fork.
      def wanted?(command)
        command != "-" && (command.is_a?(String) || command.is_a?(Array))
      end
    end
  end
end
