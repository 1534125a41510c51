# frozen_string_literal: true

require_relative "probe"

module Bench
  module Psgi
    # A column of the tables. mode: :close or :kept. clients: connections at the same time.
    Cell = Struct.new(:transport, :mode, :clients, :fields) do
      def to_s = [transport, mode == :close ? "new" : "kept-#{clients}", fields].join("-")
      def title = "#{mode == :close ? 'new' : "kept, #{clients} client#{'s' if clients > 1}"}: #{fields}"
      def closing = mode == :close ? ["--close"] : []
      # Why a server with this fault is not measured here, or nil.
      def reason(fault) = clients == 1 && fault == Probe::HOLDS ? nil : fault
    end

    CELLS = %w[unix tcp].flat_map do |transport|
      [[:close, 32], [:kept, 1], [:kept, 32]].flat_map do |mode, clients|
        [1, 12].map { |fields| Cell.new(transport, mode, clients, fields) }
      end
    end.freeze
  end
end
