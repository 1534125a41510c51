# frozen_string_literal: true

require_relative "children"
require_relative "../system/clock"

module Bontebok
  # The supervisor's masters: the generation that serves and at times the next generation. The former generation serves
  # until the next one is whole, which means that all its workers are ready. If the next generation is not whole in
  # time, it is stopped and the former generation stays. The next #renew tries again.
  class Generations < Children
    # Seconds that a master may take to end beyond the time of its workers. If the master were killed first, a stuck
    # worker would stay for ever.
    MASTER_SECONDS = 5

    # workers: returns the number of workers that a generation must have.
    def self.of(config, workers, log, ended:, &start)
      new(pause: config.seconds(:err_respawn_interval), grace: config.seconds(:graceful_timeout), log: log,
          ended: ended, limit: -> { limit(config, workers.call) }, &start)
    end

    # One worker may take the whole of WorkerBootTimeout. Each further worker is started SpawnInterval later.
    def self.limit(config, workers)
      boot = config.seconds(:worker_boot_timeout)
      boot.zero? ? Float::INFINITY : boot + (config.seconds(:spawn_interval) * (workers - 1))
    end
    private_class_method :limit

    # limit: returns the seconds that the next generation has to become whole.
    def initialize(limit:, **options, &start)
      super("master", 1, margin: MASTER_SECONDS, **options, &start)
      @limit = limit
      @limits = {}
    end

    def tick
      super
      give_up_late_ones unless @stopping
    end

    private

    def succession
      :whole
    end

    def deadlines
      @stopping ? super : super.concat(@limits.values)
    end

    def start(number)
      super
      @roster.each { |child| @limits[child] ||= Clock.now + @limit.call if child.staying? && @roster.former(child) }
    end

    # After the end of the former generation only the next one starts workers, so it has no limit then.
    def give_up_late_ones
      @limits.select! { |child, _| child.staying? && !child.reached?(:whole) && @roster.former(child) }
      @limits.select { |_, time| time <= Clock.now }.each_key { |child| give_up(child) }
    end

    def give_up(child)
      @record.incomplete(child, @limit.call)
      @roster.former(child).stay
      child.retire(@seconds[:retire])
    end
  end
end
