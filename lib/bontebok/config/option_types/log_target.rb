# frozen_string_literal: true

require_relative "directory"

module Bontebok
  module OptionTypes
    # Where an access log goes: a file, made absolute at once; `-`, standard output; or `syslog:` with its settings.
    # Empty: nowhere.
    class LogTarget < Directory
      LITERALLY = /\A(?:-?\z|syslog:)/

      private

      def absolute(text)
        LITERALLY.match?(text.b) ? text : super
      end
    end
  end
end
