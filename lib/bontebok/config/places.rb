# frozen_string_literal: true

require_relative "../start_error"

module Bontebok
  # The part of Config that names file and line of a value, in messages about a fault that a start finds later.
  module Places
    # Runs the block, which uses the value of the option. Raises the StartError of the block, with the place in front.
    def at(key)
      yield
    rescue StartError => e
      raise e unless @file[key] && @file[key].place == source(key)

      raise e.class, "#{source(key)}: #{e.message}"
    end

    # The place of a value of a repeated option; nil: it is not in the file.
    def place_of(value, key = :listen)
      return unless @file[key] && @file[key].place == source(key)

      _, place = @file[key].value.zip(@file[key].places.to_a).find { |text, _| same?(text, value, key) }
      place || source(key)
    end

    private

    def same?(text, value, key)
      OptionTable[key].read([text], nil) == [value]
    rescue UsageError
      false
    end
  end
end
