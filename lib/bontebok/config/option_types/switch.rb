# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # On or off. The letter case does not matter.
    class Switch
      WORDS = { "true" => true, "yes" => true, "on" => true, "1" => true,
                "false" => false, "no" => false, "off" => false, "0" => false }.freeze

      def metavar
        nil
      end

      def read(value)
        WORDS.fetch(value.to_s.b.downcase) { raise Invalid, "true or false" }
      end

      def show(value)
        value.to_s
      end
    end
  end
end
