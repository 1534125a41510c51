# frozen_string_literal: true

module Bontebok
  # The server raises its soft limit of open files. A command that the application executes gets the limit that the
  # server was started with: see docs/decisions/0010-commands-have-the-limit-of-the-start.md. Ruby sets a limit between
  # fork and exec only on demand, by the option rlimit_nofile, which is added here.
  #
  # A process that is only forked keeps the raised limit: it has our descriptors, and could open no others.
  module CommandLimits
    # The names that Ruby's own methods keep begin with this.
    KEPT = "bontebok_kept_"

    # Of Kernel and Process.
    module Commands
      def spawn(*arguments)
        bontebok_kept_spawn(*CommandLimits.add_to(arguments))
      end

      # The option changes this process. If the command cannot be executed, it gets its own limit back.
      def exec(*arguments)
        own = Process.getrlimit(:NOFILE)
        bontebok_kept_exec(*CommandLimits.add_to(arguments))
      ensure
        Process.setrlimit(:NOFILE, *own)
      end
    end

    # Of Kernel alone.
    module ShellCommands
      def system(*arguments)
        bontebok_kept_system(*CommandLimits.add_to(arguments))
      end

      # Takes no options. As Ruby's own, it does not wait for a command whose output nobody wants any more.
      def `(command)
        return __send__(:"bontebok_kept_`", command) unless CommandLimits.wanted?(command)

        output = IO.popen(command)
        text = output.read
        output.close
        text
      end
    end

    # Of IO.
    module Pipes
      def popen(*arguments, &block)
        limited = CommandLimits.wanted?(arguments.grep_v(Hash).first)
        bontebok_kept_popen(*(limited ? CommandLimits.add_to(arguments) : arguments), &block)
      end
    end

    class << self
      # soft: the limit for commands; raised: that of this process from now on.
      def install(soft, raised)
        again = @soft
        @soft = soft
        @raised = raised
        replace_all unless again
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

      def replace_all
        [Commands, ShellCommands].each do |methods|
          replace(Kernel, methods)
          replace(Kernel.singleton_class, methods)
        end
        replace(Process.singleton_class, Commands)
        replace(IO.singleton_class, Pipes)
      end

      # The methods are not prepended: under alias_method an application would find the prepended one in place of the
      # method that it replaces, and each would call the other for ever.
      def replace(owner, methods)
        methods.instance_methods.each do |name|
          hidden = owner.private_method_defined?(name)
          owner.alias_method(:"#{KEPT}#{name}", name)
          owner.alias_method(name, name) # against the warning that a method is redefined
          owner.define_method(name, methods.instance_method(name))
          owner.send(:private, name) if hidden
        end
      end
    end
  end
end
