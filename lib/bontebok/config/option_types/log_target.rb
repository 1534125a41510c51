# frozen_string_literal: true

require_relative "directory"

module Bontebok
  module OptionTypes
    # The target of an access log: a file, `-` for standard output, or `syslog:` with its settings. A file's path is
    # made absolute. The empty text means that there is no access log.
    class LogTarget < Directory
      LITERALLY = /\A(?:-?\z|syslog:)/

      private

      def absolute(text)
        LITERALLY.match?(text.b) ? text : super
      end
    end
  end
end
