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

      def method_missing(name, *)
        @configuration.unknown(name)
      end

      def respond_to_missing?(*)
        false
      end
    end
  end
end
