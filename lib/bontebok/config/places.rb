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

    # The place of an address of Listen; nil: it is not in the file.
    def place_of(address)
      return unless @file[:listen] && @file[:listen].place == source(:listen)

      _, place = @file[:listen].to_a.first.zip(@file[:listen].places.to_a).find { |text, _| same?(text, address) }
      place || source(:listen)
    end

    private

    def same?(text, address)
      Address.of(text) == address
    rescue OptionTypes::Invalid
      false
    end
  end
end
