# frozen_string_literal: true

module Bontebok
  class Children
    # The children that wait to be replaced. Used by the class Children. A child is replaced when the previous child in
    # the queue has ended. So there is at most one additional process, however many children wait. Children that hang
    # are not queued, and no child waits for them.
    class ReplacementQueue
      def initialize
        @waiting = []
      end

      # Adds children at the end of the queue. A child that waits already keeps its place.
      def add(*children)
        @waiting |= children
      end

      def include?(child)
        @waiting.include?(child)
      end

      # children: all living children. Returns the child that must be replaced now; nil: none.
      def next(children)
        @waiting = (@waiting & children).select(&:staying?)
        @waiting.shift if children.all? { |child| child.staying? || child.hung? }
      end
    end
  end
end
