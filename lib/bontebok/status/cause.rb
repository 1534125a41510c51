# frozen_string_literal: true

module Bontebok
  module Status
    # One cause of trouble that the diagnosis has found.
    #   kind     one of KINDS, for programs
    #   text     the words for people
    #   seconds  for how long, or nil
    Cause = Struct.new(:kind, :text, :seconds, keyword_init: true) do
      # The place in KINDS: the smaller, the worse.
      def rank = Cause::KINDS.index(kind)
    end

    # The worst kind first.
    Cause::KINDS = %i[trouble no_worker not_accepted queue_full stopped zombie lock_held main_thread_silent deadlock
                      all_wait all_compute paused leaves].freeze
  end
end
