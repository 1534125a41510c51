# frozen_string_literal: true

module Bontebok
  # The server raises its soft limit of open files. A command that the application executes gets the limit that the
  # server was started with: see docs/decisions/0010-commands-have-the-limit-of-the-start.md. Ruby sets a limit between
  # fork and exec only on demand, by the option rlimit_nofile, which is added here.
  #
  # A process that is only forked keeps the raised limit: it has our descriptors, and could open no others.
  module CommandLimits
    # Of Kernel and Process.
    module Commands
      def spawn(*arguments)
        super(*CommandLimits.add_to(arguments))
      end

      # The option changes this process. If the command cannot be executed, it gets its own limit back.
      def exec(*arguments)
        own = Process.getrlimit(:NOFILE)
        super(*CommandLimits.add_to(arguments))
      ensure
        Process.setrlimit(:NOFILE, *own)
      end
    end

    # Of Kernel alone.
    module ShellCommands
      def system(*arguments)
        super(*CommandLimits.add_to(arguments))
      end

      # Takes no options. As Ruby's own, it does not wait for a command whose output nobody wants any more.
      def `(command)
        return super unless CommandLimits.wanted?(command)

        output = IO.popen(command)
        text = output.read
        output.close
        text
      end
    end

    # Of IO.
    module Pipes
      def popen(*arguments)
        return super unless CommandLimits.wanted?(arguments.grep_v(Hash).first)

        super(*CommandLimits.add_to(arguments))
      end
    end

    class << self
      # soft: the limit for commands; raised: that of this process from now on.
      def install(soft, raised)
        @soft = soft
        @raised = raised
        [Commands, ShellCommands].each { |commands| Kernel.prepend(private_copy(commands)) }
        Kernel.singleton_class.prepend(Commands, ShellCommands)
        Process.singleton_class.prepend(Commands)
        IO.singleton_class.prepend(Pipes)
      end

      # The same arguments with the limit among their options, unless the application has set one, for this process or
      # for the command.
      def add_to(arguments)
        soft, hard = Process.getrlimit(:NOFILE)
        return arguments unless soft == @raised

        limit = { rlimit_nofile: [[@soft, hard].min, hard] }
        *others, last = arguments
        options = last if last.is_a?(Hash) && others.any?
        options ? [*others, limit.merge(options)] : [*arguments, limit]
      end

      # Is it a command? "-" is a fork.
      def wanted?(command)
        command != "-" && (command.is_a?(String) || command.is_a?(Array))
      end

      private

      def private_copy(commands)
        commands.dup.tap { |copy| copy.send(:private, *copy.instance_methods) }
      end
    end
  end
end
