# frozen_string_literal: true

require_relative "directory"

module Bontebok
  module OptionTypes
    # The target of an access log: a file, whose path is made absolute now; `-`, which is standard output; or `syslog:`
    # with its settings. Empty: no access log.
    class LogTarget < Directory
      LITERALLY = /\A(?:-?\z|syslog:)/

      private

      def absolute(text)
        LITERALLY.match?(text.b) ? text : super
      end
    end
  end
end
