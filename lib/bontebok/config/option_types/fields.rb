# frozen_string_literal: true

module Bontebok
  module OptionTypes
    # Fields of a request (RFC 9110 5): an Array of texts "Name: value". On the command line, the option is given once
    # for each field.
    class Fields
      NONE = "none"
      FIELD = /\A[!#$%&'*+\-.^_`|~0-9A-Za-z]+: ?[ -~]*\z/

      def metavar
        "FIELD"
      end

      def read(value)
        fields = (Array(value) - [NONE]).map { |text| text.to_s.b }
        return fields.freeze if fields.all?(FIELD)

        raise Invalid, "a field of the form Name: value"
      end

      def show(fields)
        fields.empty? ? NONE : fields.join(", ")
      end
    end
  end
end
