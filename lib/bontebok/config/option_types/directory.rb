# frozen_string_literal: true

require_relative "../../system/file_name"
require_relative "text"

module Bontebok
  module OptionTypes
    # A directory, made absolute at once: the application may change to another one.
    class Directory < Text
      def read(value)
        text = super
        super(absolute(text))
      rescue ArgumentError # ~name, and nobody has that name
        raise Invalid, @wanted
      end

      private

      def absolute(text)
        FileName.absolute(text)
      end
    end
  end
end
