# frozen_string_literal: true

module Bontebok
  class Children
    # The children that wait for their turn to be replaced, for Children. A turn lasts until the former child has ended.
    # So there is never more than one process too many, however many children must go, and however long one takes to
    # finish. Children that hang need no turn and hold up no other child.
    class ReplacementQueue
      def initialize
        @waiting = []
      end

      # Adds children at the end of the queue. A child that waits already keeps its place.
      def add(*children)
        @waiting |= children
      end

      # children: all that live. Returns the child whose turn it is, to be replaced at once; nil: none.
      def next(children)
        @waiting = (@waiting & children).select(&:staying?)
        @waiting.shift if children.all? { |child| child.staying? || child.hung? }
      end
    end
  end
end
