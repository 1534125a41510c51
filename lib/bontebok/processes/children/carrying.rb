# frozen_string_literal: true

module Bontebok
  class Children
    # The part of Children for a supervisor that executes another program in its place (see Child::State).
    module Carrying
      # Returns [[state, channel], ...]. The states are values of JSON.
      def carry
        @roster.map do |child|
          others = { asks: @replacements.include?(child), unsent: child.channel.unsent }
          [{ **child.state, **others }, child.channel]
        end
      end

      # Takes the children of the former program: the result of #carry after JSON. The children serve.
      def restore(carried)
        @go = true
        carried.each do |state, channel|
          channel.send_later(state["unsent"].to_s)
          child = Child.restore(state, channel)
          @roster.add(child)
          @replacements.add(child) if state.fetch("asks")
        end
      end
    end
  end
end
