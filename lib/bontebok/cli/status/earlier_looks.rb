# frozen_string_literal: true

module Bontebok
  # The last looks of --follow, with which a new look is compared.
  class EarlierLooks
    # Two are enough: the last one may be too new.
    MOST = 2
    private_constant :MOST

    # least: the fewest seconds between two looks that are compared. The kernel counts CPU time in steps of 10 ms, and
    # after a change of the terminal's size a look comes at once.
    def initialize(least)
      @least = least
      @looks = []
    end

    # Keeps the snapshot. Returns the earlier one, or nil. source: see ObservedMemory#source. The totals of two servers
    # are not compared, nor are those that could not be read.
    def before(snapshot, source)
      @looks = [] if source.empty? || source != @source
      @source = source
      earlier = @looks.reverse.find { |look| old?(look, snapshot) }
      @looks = [*@looks, snapshot].last(MOST) if !source.empty? && (@looks.empty? || earlier == @looks.last)
      earlier
    end

    private

    def old?(look, snapshot) = snapshot.at - look.at >= @least
  end
end
