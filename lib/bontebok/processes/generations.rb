# frozen_string_literal: true

require_relative "children"
require_relative "../system/clock"

module Bontebok
  # The supervisor's masters. A generation is a master with its workers. While the application is reloaded, there are
  # two generations. The former generation serves until the next generation is whole: all its workers are ready. If the
  # next generation is not whole in time, it is stopped and the former generation stays. A call of #renew tries again.
  class Generations < Children
    # Seconds that a master gets to end, in addition to the time of its workers. If the master were killed before its
    # workers, nobody would kill a worker that does not end.
    MASTER_SECONDS = 5

    # workers: a callable that returns the number of workers of a generation.
    def self.of(config, workers, log, ended:, &start)
      new(pause: config.seconds(:err_respawn_interval), grace: config.seconds(:graceful_timeout),
          hijack: config.seconds(:hijack_timeout), log: log, ended: ended,
          limit: -> { limit(config, workers.call) }, &start)
    end

    # Each worker may take the whole of WorkerBootTimeout. Each worker is started SpawnInterval after the previous
    # worker.
    def self.limit(config, workers)
      boot = config.seconds(:worker_boot_timeout)
      boot.zero? ? Float::INFINITY : boot + (config.seconds(:spawn_interval) * (workers - 1))
    end
    private_class_method :limit

    # limit: a callable that returns the seconds that the next generation gets to become whole.
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

    # The limit applies only while the former generation serves.
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
