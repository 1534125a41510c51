# frozen_string_literal: true

module Bontebok
  class Children
    # Who is to be replaced and waits for its turn, for Children. A turn lasts until the one before has ended: so there
    # is never more than one process above their number, however many have to go, and however long one takes to finish.
    # Those that hang have no turn, and hold up nobody's.
    class ReplacementQueue
      def initialize
        @waiting = []
      end

      # At the end of the line; who stands there already stays where it is.
      def add(*children)
        @waiting |= children
      end

      # Whose turn it is now, of all children that live; nil: nobody's. It is to be replaced at once.
      def next(children)
        @waiting = (@waiting & children).select(&:staying?)
        @waiting.shift if children.all? { |child| child.staying? || child.hung? }
      end
    end
  end
end
