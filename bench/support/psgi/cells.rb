# frozen_string_literal: true

require_relative "probe"

module Bench
  module Psgi
    # A column of the tables. transport: "unix" or "tcp"; "nginx": over a unix socket, and mode tells how nginx connects
    # to the server. mode: :close or :kept. clients: connections at the same time.
    Cell = Struct.new(:transport, :mode, :clients, :fields) do
      def to_s = [transport, mode == :close ? "new" : "kept-#{clients}", fields].join("-")
      def title = "#{mode == :close ? 'new' : "kept, #{clients} client#{'s' if clients > 1}"}: #{fields}"
      def behind_nginx? = transport == Cells::NGINX
      # The clients of nginx always keep their connections.
      def closing = mode == :close && !behind_nginx? ? ["--close"] : []

      # Why a server with this fault is not measured here, or nil. nginx opens connections that the server closes.
      def reason(fault)
        return if (clients == 1 && fault == Probe::HOLDS) || (behind_nginx? && fault == Probe::CLOSES)

        fault
      end
    end

    # All columns.
    module Cells
      NGINX = "nginx"
      TITLES = { "unix" => "unix", "tcp" => "tcp", NGINX => "behind nginx, unix" }.freeze

      module_function

      def of(*transports)
        transports.flat_map do |transport|
          [[:close, 32], [:kept, 1], [:kept, 32]].flat_map do |mode, clients|
            [1, 12].map { |fields| Cell.new(transport, mode, clients, fields) }
          end
        end
      end
    end
  end
end
