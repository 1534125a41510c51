# frozen_string_literal: true

require_relative "../usage_error"

module Bontebok
  # Reads the flags of one command for a running server (ControlCommand::COMMANDS). They are written as the server's
  # options:
  #
  #   --flag   --flag VALUE   --flag=VALUE
  class CommandFlags
    # known: { flag => [key of the request, true, or the pattern of the flag's value] }. The block gets a flag and
    # returns an example.
    def initialize(known, &example)
      @known = known
      @example = example
    end

    # Removes the flags from the arguments. Returns a part of the request. Raises UsageError.
    def take(rest)
      @known.each_with_object({}) do |(flag, (key, pattern)), request|
        while (place = rest.index { |argument| argument == flag || argument.start_with?("#{flag}=") })
          value = rest.delete_at(place).byteslice((flag.bytesize + 1)..)
          raise UsageError, "#{flag} takes no value" if value && pattern == true

          request[key] = pattern == true || value_of(flag, pattern, value || rest.delete_at(place).to_s)
        end
      end
    end

    private

    def value_of(flag, pattern, value)
      return value if pattern.match?(value.b)

      raise UsageError, "#{flag} wants another value than #{value.inspect}: #{@example.call(flag)}"
    end
  end
end
