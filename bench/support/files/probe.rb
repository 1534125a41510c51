# frozen_string_literal: true

require "net/http"
require "socket"

module Bench
  module Files
    # One request to a server, to see whether its response is right before it is measured.
    module Probe
      TIMEOUT = 20
      FAILURES = [SystemCallError, IOError, Timeout::Error, Net::HTTPBadResponse, Net::ProtocolError].freeze
      # The field of a request with this field of a response.
      CONDITIONS = { "etag" => "If-None-Match", "last-modified" => "If-Modified-Since" }.freeze

      module_function

      # A Net::HTTPResponse with its body. Raises one of FAILURES.
      def get(address, path, fields = {})
        socket = connect(address)
        stream = Net::BufferedIO.new(socket, read_timeout: TIMEOUT)
        request = Net::HTTP::Get.new(path, { "Host" => "localhost", "Accept-Encoding" => "identity", **fields })
        request.exec(stream, "1.1", path)
        Net::HTTPResponse.read_new(stream).tap { |response| response.reading_body(stream, true) { response.body } }
      ensure
        socket&.close
      end

      # { name => value }: the field of a request whose client has this response, by its ETag or its Last-Modified.
      # nil: it has neither.
      def condition(response)
        name, asked = CONDITIONS.find { |field, _| response[field] }
        name && { asked => response[name] }
      end

      # Why the server cannot do the work of the cell; nil: it can.
      def fault(address, work, tree)
        work.paths.first(Tree::PAGE.size).each do |path|
          response = get(address, path)
          return "status #{response.code} for #{path}" unless response.code == "200"
          return "another content of #{path}" unless response.body.b == tree.content(path)
          return condition_fault(address, path, response) if work.is_conditional
        end
        nil
      rescue *FAILURES => e
        e.message
      end

      def condition_fault(address, path, response)
        fields = condition(response) || (return "neither ETag nor Last-Modified")
        code = get(address, path, fields).code
        "#{fields.keys.first} gives status #{code}" unless code == "304"
      end

      def connect(address)
        return UNIXSocket.new(address) if address.start_with?("/")

        TCPSocket.new(*address.split(":"))
      end

      private_class_method :condition_fault, :connect
    end
  end
end
