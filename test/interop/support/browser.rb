# frozen_string_literal: true

require "uri"

module Interop
  # A Support::Client with the functions of a browser. The browser keeps cookies, and encodes forms and uploads. It uses
  # one connection until a response closes the connection. Tests of HTTP itself use Support::Client.
  class Browser
    BOUNDARY = "----interop-0123456789abcdef"
    CHUNKED = { "Transfer-Encoding" => "chunked", "Content-Type" => "application/octet-stream" }.freeze

    attr_reader :cookies

    # fields: the header fields of every request.
    def initialize(address, fields = {})
      @address = address
      @fields = { "Host" => "localhost" }.merge(fields)
      @cookies = {}
    end

    def get(target, fields = {})
      request("GET", target, fields)
    end

    def head(target)
      request("HEAD", target)
    end

    def post_form(target, form, fields = {})
      body = URI.encode_www_form(form)
      request("POST", target, fields.merge("Content-Type" => "application/x-www-form-urlencoded"), body)
    end

    # form: { name => text }; file: [name, file name, bytes].
    def upload(target, form, file)
      body = form.map { |name, text| part(name, text) }.join.b
      body << part(file[0], file[2], "; filename=\"#{file[1]}\"", "Content-Type: application/octet-stream\r\n")
      body << "--#{BOUNDARY}--\r\n"
      request("POST", target, { "Content-Type" => "multipart/form-data; boundary=#{BOUNDARY}" }, body)
    end

    # Sends each part as one chunk, without a Content-Length.
    def post_chunked(target, parts)
      head = all_fields(CHUNKED).map { |name, value| "#{name}: #{value}\r\n" }.join
      exchange("POST") do |client|
        client.write("POST #{target} HTTP/1.1\r\n#{head}\r\n")
        parts.each { |part| client.write("#{part.bytesize.to_s(16)}\r\n".b << part.b << "\r\n") }
        client.write("0\r\n\r\n")
      end
    end

    def request(method, target, fields = {}, body = nil)
      exchange(method) { |client| client.request(method, target, all_fields(fields), body) }
    end

    def close
      @client&.close
      @client = nil
    end

    private

    def exchange(method)
      @client ||= Support::Client.open(@address)
      yield @client
      response = @client.read_response(to: method)
      close if !response.keep_alive? || response.framing == :close
      keep_cookies(response)
      response
    end

    def all_fields(fields)
      cookies = @cookies.map { |name, value| "#{name}=#{value}" }.join("; ")
      @fields.merge(cookies.empty? ? {} : { "Cookie" => cookies }, fields)
    end

    def keep_cookies(response)
      response.all("Set-Cookie").each do |cookie|
        name, value = cookie[/\A[^;]*/].split("=", 2)
        @cookies[name] = value
      end
    end

    def part(name, bytes, parameters = "", fields = "")
      "--#{BOUNDARY}\r\nContent-Disposition: form-data; name=\"#{name}\"#{parameters}\r\n#{fields}\r\n".b <<
        bytes.b << "\r\n"
    end
  end
end
