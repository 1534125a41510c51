# frozen_string_literal: true

module Bontebok
  module ConfigStyles
    # The superclass of the styles. It defines directives, and reports unknown directives.
    class Directives
      class << self
        private

        # Defines a directive that sets the option `key` of OptionTable.
        def option(directive, key = directive)
          define_method(directive) { |value| @configuration.set(key, value) }
        end

        # Defines directives without an effect. Each directive asks for something that this server always does, or tunes
        # a mechanism that this server does not have.
        def nothing_to_do(*directives)
          directives.each { |directive| define_method(directive) { |*, **, &_block| nil } }
        end

        # Defines directives for features that this server does not have. advice: what to do instead, for the message. A
        # directive with the value false is ignored.
        def absent(advice, *directives)
          directives.each do |directive|
            define_method(directive) { |*values, **, &_block| unknown(directive, advice) unless values.first == false }
          end
        end
      end

      # configuration: the ConfigFile.
      def initialize(configuration)
        @configuration = configuration
      end

      private

      # This server has one SocketMode for all unix sockets. The mode has only the permissions that every directive of
      # the file allows.
      def restrict_socket(umask)
        @configuration.set(:socket_mode, (@configuration[:socket_mode] || 0o777) & ~umask)
      end

      def unknown(directive, advice = nil)
        @configuration.unknown(directive, advice)
      end

      def method_missing(name, *)
        unknown(name, hint(name))
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
