# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # A file's mode: a text of octal digits, or an Integer.
    class FileMode
      RANGE = (0..0o777)

      def metavar
        "MODE"
      end

      def read(value)
        mode = value.is_a?(Integer) ? value : octal(value.to_s)
        return mode if RANGE.cover?(mode)

        raise Invalid, "a mode from 0000 to 0777"
      end

      def show(mode)
        format("%04o", mode)
      end

      private

      def octal(text)
        /\A0?[0-7]{3}\z/.match?(text.b) ? text.oct : -1
      end
    end
  end
end
