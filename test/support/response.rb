# frozen_string_literal: true

module Support
  # One HTTP response as the server sent it. Only the transfer coding is decoded. Fields are neither joined nor
  # corrected.
  #
  #   fields    [["Content-Type", "text/plain"], ...] in the order sent
  #   framing   how the end of the body was marked: :none, :length, :chunked or :close
  #   trailers  like fields
  Response = Struct.new(:version, :status, :reason, :fields, :body, :framing, :trailers, keyword_init: true) do
    # Returns the value of the field with this name, in any letter case. Returns nil if no field has this name. Raises
    # Error if several fields have it.
    def [](name)
      values = all(name)
      raise Error, "#{name} came #{values.size} times" if values.size > 1

      values.first
    end

    def all(name)
      fields.select { |field, _| field.casecmp?(name) }.map(&:last)
    end

    def keep_alive?
      tokens = all("Connection").flat_map { |value| value.downcase.split(/\s*,\s*/) }
      version == "HTTP/1.0" ? tokens.include?("keep-alive") : !tokens.include?("close")
    end

    def interim?
      status.between?(100, 199)
    end
  end
end
