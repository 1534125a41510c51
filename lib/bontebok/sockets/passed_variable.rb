# frozen_string_literal: true

require "json"

require_relative "../usage_error"

module Bontebok
  # An environment variable in which a parent or a former program passes something to this process. Anybody can set it,
  # so any text is possible. It is removed from the environment, because it is meant for one process only.
  module PassedVariable
    # The numbers that a descriptor can have; 0 to 2 are the standard streams.
    DESCRIPTORS = (3..0x7fff_ffff)
    # What the block of .read raises about a text that it cannot read.
    WRONG = [SystemCallError, ArgumentError, RangeError, TypeError, JSON::ParserError].freeze
    private_constant :WRONG

    class << self
      # Returns the block's result for the variable's text; nil if the variable is not set. wants: what the variable
      # must hold. Raises UsageError if the block raises one of WRONG.
      def read(env, name, wants)
        text = env.delete(name) or return
        yield text
      rescue *WRONG
        raise UsageError, "#{name} wants #{wants}, not #{text.inspect}"
      end

      # The number of a descriptor in the text. Raises ArgumentError.
      def descriptor(text)
        number = Integer(text, 10)
        DESCRIPTORS.cover?(number) ? number : raise(ArgumentError, "no descriptor")
      end

      # The value of JSON in the text, which is UTF-8 in every locale. Raises JSON::ParserError.
      def json(text) = JSON.parse(text.dup.force_encoding(Encoding::UTF_8))

      # types: { name => what the value may be, as in a case expression }. Returns the value if it is a Hash with these
      # types. Raises TypeError.
      def checked(value, types)
        right = value.is_a?(Hash) && types.all? { |name, allowed| fits?(value[name], allowed) }
        right ? value : raise(TypeError, "another type")
      end

      private

      def fits?(value, allowed)
        case value
        when *allowed then true
        end
      end
    end
  end
end
