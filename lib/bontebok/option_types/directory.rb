# frozen_string_literal: true

require_relative "text"

module Bontebok
  module OptionTypes
    # A folder, made absolute at once: the application may change to another one.
    class Directory < Text
      def read(value)
        text = super
        super(File.expand_path(text))
      rescue ArgumentError # ~name, and nobody has that name
        raise Invalid, @wanted
      end
    end
  end
end
