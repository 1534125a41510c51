# frozen_string_literal: true

module Bench
  module Pictures
    # The superclass of the pictures: a title, a condition below it, and what a subclass draws between TOP and BOTTOM.
    class Picture
      WIDTH = 820
      HEIGHT = 340
      TOP = 76
      BOTTOM = 290
      LEFT = 64
      RIGHT = 620
      FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"

      # picture: a part of recorded.json.
      def initialize(picture, theme)
        @picture = picture
        @theme = theme
        @parts = []
      end

      def svg
        text(16, 28, @picture.fetch("title"), size: 17, weight: 600)
        text(16, 50, @picture.fetch("condition"), fill: @theme.faint)
        draw
        <<~SVG
          <svg xmlns="http://www.w3.org/2000/svg" width="#{WIDTH}" height="#{HEIGHT}"
            viewBox="0 0 #{WIDTH} #{HEIGHT}" role="img" font-family="#{FONT}">
          <title>#{escape(@picture.fetch('title'))}</title>
          <rect width="#{WIDTH}" height="#{HEIGHT}" rx="6" fill="#{@theme.paper}"/>
          #{@parts.join("\n")}
          </svg>
        SVG
      end

      private

      # The colour of the part, or that of its place. So a server can have the same colour in all pictures.
      def colour(part, place) = @theme.series.fetch(part.fetch("colour", place))

      def text(left, base, words, size: 13, weight: 400, fill: @theme.ink, anchor: "start")
        element("text", { x: left, y: base, "font-size": size, "font-weight": weight, fill: fill,
                          "text-anchor": anchor }, words)
      end

      def line(from, to, stroke: @theme.grid, width: 1, dashes: nil)
        element("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: stroke, "stroke-width": width,
                          "stroke-dasharray": dashes })
      end

      def box(left, top, width, height, fill:, opacity: 1)
        element("rect", { x: left, y: top, width: width, height: height, rx: 3, fill: fill, "fill-opacity": opacity })
      end

      def dot(left, top, fill) = element("circle", { cx: left, cy: top, r: 2.5, fill: fill })

      # At the lower edge. states: { name => opacity }, or such pairs.
      def legend(states)
        left = self.class::LEFT
        base = HEIGHT - 14
        states.each do |state, opacity|
          box(left, base - 10, 22, 11, fill: @theme.faint, opacity: opacity)
          text(left + 28, base, state, size: 12, fill: @theme.faint)
          left += 56 + (state.size * 6.3)
        end
      end

      # An attribute that is nil is left out.
      def element(name, attributes, words = nil)
        list = attributes.compact.map { |key, value| %(#{key}="#{value.is_a?(Float) ? number(value) : value}") }
        @parts << "<#{name} #{list.join(' ')}#{words ? ">#{escape(words)}</#{name}>" : '/>'}"
      end

      def number(value) = value.round(1).to_s.delete_suffix(".0")
      def escape(words) = words.to_s.gsub("&", "&amp;").gsub("<", "&lt;")
    end
  end
end
