# frozen_string_literal: true

module Support
  # Reads one response from a Client. Raises Malformed if the response breaks RFC 9112 in any detail, because a real
  # client might reject this response.
  class ResponseReader
    class Malformed < Error; end

    STATUS_LINE = %r{\A(HTTP/1\.[01]) (\d{3}) ([\t\x20-\x7e\x80-\xff]*)\z}n
    FIELD_LINE = /\A([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\z/n
    CHUNK_SIZE = /\A(\h{1,16})\z/

    # to: the method of the request. A response to HEAD has no body, whatever the fields say.
    def initialize(client, deadline, to:)
      @client = client
      @deadline = deadline
      @method = to
    end

    def read
      version, status, reason = status_line
      @response = Response.new(version: version, status: status, reason: reason, fields: fields, trailers: [])
      @response.framing = framing
      @response.body = body
      @response
    end

    private

    def status_line
      line = self.line
      match = STATUS_LINE.match(line) or raise Malformed, "status line #{line.inspect}"
      [match[1], match[2].to_i, match[3]]
    end

    def fields
      fields = []
      until (line = self.line).empty?
        match = FIELD_LINE.match(line) or raise Malformed, "field line #{line.inspect}"
        fields << [match[1], match[2]]
      end
      fields
    end

    # RFC 9112 6.3.
    def framing
      lengths = @response.all("Content-Length")
      codings = @response.all("Transfer-Encoding")
      check_framing(lengths, codings)
      return :none if bodyless?
      return :chunked if codings.any?

      lengths.any? ? :length : :close
    end

    def check_framing(lengths, codings)
      raise Malformed, "Content-Length beside Transfer-Encoding" if lengths.any? && codings.any?
      raise Malformed, "Content-Length #{lengths.inspect}" unless lengths.empty? || lengths.join("|").match?(/\A\d+\z/)
      raise Malformed, "Transfer-Encoding #{codings.inspect}" unless [[], ["chunked"]].include?(codings)
    end

    def bodyless?
      @method == "HEAD" || @response.interim? || [204, 304].include?(@response.status)
    end

    def body
      case @response.framing
      when :none then ""
      when :length then @client.read(@response["Content-Length"].to_i, @deadline)
      when :chunked then chunks
      when :close then @client.read_to_end(@deadline)
      end
    end

    def chunks
      body = String.new(encoding: Encoding::BINARY)
      while (size = chunk_size).positive?
        body << @client.read(size, @deadline)
        raise Malformed, "no CRLF after a chunk" unless @client.read(2, @deadline) == "\r\n"
      end
      @response.trailers = fields
      body
    end

    def chunk_size
      line = self.line
      CHUNK_SIZE.match?(line) ? line.hex : raise(Malformed, "chunk size #{line.inspect}")
    end

    def line
      line = @client.read_line(@deadline)
      raise Malformed, "line end in #{line.inspect}" unless line.end_with?("\r\n")

      line.delete_suffix("\r\n")
    end
  end
end
