# frozen_string_literal: true

module Bontebok
  module ConfigStyles
    # The superclass of styles: how they define directives, and what they do with unknown ones.
    class Directives
      class << self
        private

        # Defines a directive that is an option of OptionTable, here or under another name.
        def option(directive, key = directive)
          define_method(directive) { |value| @configuration.set(key, value) }
        end

        # Defines directives without an effect: they ask for what this server always does, or tune a mechanism that it
        # does not have.
        def nothing_to_do(*directives)
          directives.each { |directive| define_method(directive) { |*, **, &_block| nil } }
        end

        # Defines directives for features that this server does not have, with advice for another way. A directive with
        # the value false is ignored.
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

      # All unix sockets have the same mode here. It has only the permissions that every directive allows.
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
