# frozen_string_literal: true

module Bontebok
  module ConfigStyles
    # What styles share.
    class Directives
      class << self
        private

        # A directive that is one of our options under another name.
        def option(directive, key = directive)
          define_method(directive) { |value| @configuration.set(key, value) }
        end

        # Directives that ask for nothing which is not so anyway, or tune a mechanism that this server does not have.
        def nothing_to_do(*directives)
          directives.each { |directive| define_method(directive) { |*, **, &_block| nil } }
        end

        # Directives for what this server has not got, and what to do instead. One that is false asks for nothing.
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

      # Sockets have one mode: what one of them does not allow none does.
      def restrict_socket(umask)
        @configuration.set(:socket_mode, (@configuration[:socket_mode] || 0o777) & ~umask)
      end

      def unknown(directive, advice = nil)
        @configuration.unknown(directive, advice)
      end

      def method_missing(name, *)
        unknown(name, hint(name))
      end

      # What may have been meant.
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
