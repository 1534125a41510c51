# frozen_string_literal: true

require_relative "../option_table"

module Bontebok
  module ConfigStyles
    # The superclass of the styles. It defines directives, and reports unknown directives. Instance variables of the
    # file belong to the same object, so those of the styles begin with @bontebok_.
    class Directives
      class << self
        private

        # Defines a directive that sets the option `key` of OptionTable.
        def option(directive, key = directive)
          define_method(directive) { |value| @bontebok_file.set(key, value) }
        end

        # Defines directives without an effect. Each directive asks for something that this server always does, or tunes
        # a mechanism that this server does not have.
        def nothing_to_do(*directives)
          directives.each { |directive| define_method(directive) { |*, **, &_block| nil } }
        end

        # Defines directives for features that this server does not have, and that the application can do without.
        # advice: what to do instead, for the log. A directive with the value false is ignored.
        def advise(advice, *directives)
          directives.each do |directive|
            define_method(directive) do |*values, **, &_block|
              @bontebok_file.advise(directive, advice) unless values.first == false
            end
          end
        end

        # Defines directives whose loss would change what the server serves. advice: as for #advise.
        def reject(advice, *directives)
          directives.each do |directive|
            define_method(directive) { |*, **, &_block| @bontebok_file.refuse("#{directive}: #{advice}") }
          end
        end
      end

      # Called for a constant that the file uses and nobody has defined. The library of CONSTANTS, or a method
      # Object.const_missing of the application, may define the constant. Ruby's own message would have the style's
      # class in front of the name, and a second line.
      def self.const_missing(name)
        place = caller
        library = self::CONSTANTS[name]
        require library if library
        Object.const_get(name)
      rescue NameError => e
        raise unless e.name == name

        raise NameError, "uninitialized constant #{name}", place, cause: nil
      end

      # configuration: the ConfigFile.
      def initialize(configuration)
        @bontebok_file = configuration
        self.class::LIBRARIES.each { |name| load_library(name) }
      end

      # No other server has this hook.
      def before_worker_drain(hook = nil, &block)
        @bontebok_file.add_hook(:before_worker_drain, hook || block)
      end

      private

      # Since Ruby 4, the library logger is a gem, which the bundle need not have. A file that needs a missing library
      # then has a missing constant.
      def load_library(name)
        require name
      rescue LoadError
        nil
      end

      # puma and pitchfork measure this time from the fork of a worker. worker_boot_timeout also limits a deploy, which
      # loads the application. So the time is at least the default of worker_boot_timeout.
      def limit_boot(seconds)
        least = OptionTable[:worker_boot_timeout].default / 1000
        seconds = [seconds, least].max if seconds.is_a?(Numeric) && seconds.positive?
        @bontebok_file.set(:worker_boot_timeout, at_most_longest(seconds))
      end

      # Other servers have no longest time.
      def at_most_longest(seconds)
        seconds.is_a?(Numeric) ? [seconds, OptionTypes::Duration::LONGEST / 1000].min : seconds
      end

      # A library may define a method with the name of its constant, such as URI(). A word in a hook is no directive.
      # Ruby's own message would have the class and the content of the style.
      def method_missing(name, *values, &block)
        library = self.class::CONSTANTS[name]
        return send(name, *values) if library && require(library)
        return report_unknown(name) unless @bontebok_file.read?
        raise NameError, "undefined local variable or method '#{name}'", caller if values.empty? && !block

        raise NoMethodError, "undefined method '#{name}'", caller
      end

      def report_unknown(directive)
        @bontebok_file.unknown(directive, hint(directive))
      end

      # A directive that the user may have meant, or nil.
      def hint(name)
        known = self.class.public_instance_methods - Object.public_instance_methods
        near = DidYouMean::SpellChecker.new(dictionary: known).correct(name).first if defined?(DidYouMean)
        "did you mean #{near}?" if near
      end

      def respond_to_missing?(*)
        false
      end
    end
  end
end
