# frozen_string_literal: true

require_relative "plain_text"

module Bontebok
  module Status
    # The shapes of the values of a Snapshot. A shape is a lambda that gets any object, and returns a value of its type:
    # the formatters need no check of their own. A value of another type becomes nil, a count becomes 0.
    module Shape
      # The largest number of the shared memory.
      LARGEST = (2**64) - 1
      # A later time is not a time: 3000-01-01.
      LATEST = 32_503_680_000
      # The longest name of a counter.
      LONGEST_NAME = 40

      FLAG = ->(value) { value == true }
      NUMBER = ->(value) { value.clamp(0, LARGEST) if value.is_a?(Integer) }
      COUNT = ->(value) { value.is_a?(Integer) ? value.clamp(0, LARGEST) : 0 }
      SECONDS = lambda do |value|
        return unless value.is_a?(Float) || value.is_a?(Integer)

        value.to_f.clamp(0.0, LARGEST.to_f) unless value.to_f.nan?
      end
      # Seconds since 1970.
      TIME = ->(value) { SECONDS.call(value)&.then { |seconds| seconds if seconds.between?(1, LATEST) } }

      class << self
        def text(longest)
          ->(value) { PlainText.clean(value, longest) if value.is_a?(String) }
        end

        def word(*words)
          table = words.flat_map { |word| [[word, word], [word.to_sym, word]] }.to_h
          ->(value) { table[value] }
        end

        # most: further items are left out.
        def list(shape, most)
          ->(value) { value.is_a?(Array) ? value.first(most).filter_map { |item| shape.call(item) } : [] }
        end

        # shapes: { key => shape }. The result has exactly these keys. Most values of an idle thread are nil, and
        # a server can have a thousand of them.
        def record(shapes)
          nothing = shapes.transform_values { |shape| shape.call(nil).freeze }.freeze
          lambda do |value|
            record = nothing.dup
            shapes.each { |key, shape| record[key] = shape.call(value[key]) if value[key] } if value.is_a?(Hash)
            record
          end
        end

        # names: the result has these keys; nil: the keys of the value, at most `most`, as texts.
        def table(shape, names: nil, most: 64)
          return record(names.to_h { |name| [name, shape] }) if names

          name = text(LONGEST_NAME)
          lambda do |value|
            pairs = value.is_a?(Hash) ? value.first(most) : []
            pairs.to_h { |key, item| [name.call(key.is_a?(Symbol) ? key.name : key) || "?", shape.call(item)] }
          end
        end
      end

      # A letter of /proc/PID/stat.
      LETTER = word(*"A".."Z", *"a".."z")
    end
  end
end
