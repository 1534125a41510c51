# frozen_string_literal: true

require_relative "tree"

module Bench
  module Files
    # What is measured: a kind of work over one transport, with kept-alive or with new connections.
    module Cells
      # paths: in rotation. limit: of the load tool; nil: a time. per: requests per unit. warm: requests before the
      # first round. is_conditional: the client has the file already, and the response is 304.
      Work = Struct.new(:name, :paths, :connections, :limit, :per, :warm, :is_conditional, keyword_init: true)
      WORKS = [
        Work.new(name: "1k", paths: ["/1k.js"], connections: 16, per: 1, warm: 500),
        Work.new(name: "16k", paths: ["/16k.js"], connections: 16, per: 1, warm: 500),
        Work.new(name: "1m", paths: ["/1m.js"], connections: 4, per: 1, warm: 20),
        Work.new(name: "100m", paths: ["/100m.bin"], connections: 2, limit: ["-n", 4], per: 1, warm: 1),
        Work.new(name: "many", paths: Tree::MANY, connections: 16, limit: ["-n", Tree::MANY.size], per: 1,
                 warm: Tree::MANY.size),
        Work.new(name: "304", paths: ["/1k.js"], connections: 16, per: 1, warm: 500, is_conditional: true),
        Work.new(name: "page", paths: Tree::PAGE.keys, connections: 1, per: Tree::PAGE.size, warm: 100)
      ].freeze
      # Kept-alive connections only: with new ones, the body would still be nearly all of the work of 100m, and a
      # browser does not load a page so.
      KEPT_ONLY = %w[100m page].freeze

      Cell = Struct.new(:work, :transport, :mode) do
        def to_s = "#{work.name}-#{transport}-#{mode}"
        def closing = mode == :new ? ["--close"] : []
      end
      ALL = %w[tcp unix].product(%i[kept new]).flat_map do |transport, mode|
        works = WORKS.reject { |work| mode == :new && KEPT_ONLY.include?(work.name) }
        works.map { |work| Cell.new(work, transport, mode) }
      end.freeze
      QUICK = %w[1k-tcp 16k-tcp many-tcp-kept 304-tcp-kept page-tcp].freeze

      module_function

      # only: beginnings of names; nil: all.
      def chosen(only)
        cells = ALL.select { |cell| only.nil? || only.any? { |beginning| cell.to_s.start_with?(beginning) } }
        cells.any? ? cells : abort("no such cell; there are #{ALL.join(', ')}")
      end
    end
  end
end
