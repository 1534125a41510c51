# frozen_string_literal: true

require_relative "../../system/file_name"
require_relative "text"

module Bontebok
  module OptionTypes
    # A directory or file. The path is made absolute, because the application may change the working directory.
    class Directory < Text
      def read(value)
        text = super
        path = absolute(text)
        @pattern.match?(path.b) ? path.freeze : raise(Invalid, "#{@wanted} (#{path} has #{path.bytesize})")
      rescue ArgumentError # ~name, and there is no such user
        raise Invalid, @wanted
      end

      private

      def absolute(text)
        FileName.absolute(text)
      end
    end
  end
end
