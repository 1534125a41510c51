# frozen_string_literal: true

require_relative "../../sockets/channel"
require_relative "../../system/clock"

module Bontebok
  class Children
    # The part of Children that sends words (messages of Channel) to the children, and reads theirs.
    module Words
      # Sends the word to all children. A child that is not loaded yet gets the word when it is loaded.
      def tell(word, except: [])
        (@roster.to_a - except).each { |child| child.tell(word) }
      end

      private

      # Notes the words that have arrived. If the child has ended, all of its words are read.
      def hear(child)
        loop do
          words = child.hear
          words.each { |word| note(child, word) }
          break unless child.ended? && words.size == Channel::MOST
        end
      end

      # The time at which words that wait in a channel of this process are sent again; nil: none wait.
      def resend_time
        Clock.now + Clock::STEP if Channel.full?
      end
    end
  end
end
