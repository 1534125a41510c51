# frozen_string_literal: true

require "test_helper"
require "bontebok/status/csv"
require_relative "../support/status_case"

class StatusCsvTest < Minitest::Test
  include StatusCase

  Csv = Bontebok::Status::Csv

  # Columns keep their places: a new one comes last.
  COLUMNS = "time,state,generation,workers,threads,busy,waiting,oldest,accept_queue,connections,detached,pss," \
            "responses,responses_1xx,responses_2xx,responses_3xx,responses_4xx,responses_5xx,aborted,rejected," \
            "bytes_in,bytes_out,responses_per_second,responses_5xx_per_second,service_p50,service_p99," \
            "queue_p50,queue_p99,cause,files"

  def test_the_columns
    assert_equal COLUMNS, Csv.header
  end

  def test_a_line_of_the_first_look
    assert_equal "#{NOW},serving,2,2,4,0,0,,0,24,0,205520896,163,0,160,0,0,3,0,0,0,0,,,,,,,,0", Csv.line(snapshot)
  end

  def test_a_line_with_rates_and_a_cause
    now = snapshot(at: 1002.0, time: NOW + 0.1234567, waiting: { requests: 4, oldest: 0.5 },
                   totals: totals(responses: { "2xx" => 180, "5xx" => 4 }, bytes_out: 9, files: 7),
                   service_time: Array.new(50, 0).fill(3, 40, 1),
                   workers: [worker(1, state: "T", threads: [busy(1, 2)])])
    assert_equal "1795921800.123457,serving,2,1,1,1,4,0.5,0,12,0,102760448,184,0,180,0,0,4,0,0,0,9,10.5,0.5,4.0e-05," \
                 "4.0e-05,,,stopped,7", Csv.line(now, snapshot)
  end

  # A sum over some of them would be a step in a graph.
  def test_an_unknown_sum_is_empty
    assert_equal "", column("pss", workers: [worker(1), worker(2, pss: nil)])
    assert_equal %w[0 0], [column("pss", workers: []), column("accept_queue")]
    assert_equal "", column("pss", server: server(hidden: true))
    two = server(listeners: %w[http://127.0.0.1:8080 unix:/run/app.sock])
    assert_equal ["", ""], [column("accept_queue", server: two), column("accept_queue", accept_queues: [])]
  end

  def test_workers_that_nobody_has_seen_are_no_zeros
    %w[workers threads busy connections detached pss].each do |name|
      assert_equal "", column(name, workers: [], server: server(hidden: true)), name
    end
    assert_equal "2", column("workers", server: server(hidden: true))
  end

  # A counter that falls to 0 looks like a restart.
  def test_totals_that_were_not_read_are_no_zeros
    %w[connections responses responses_2xx aborted rejected bytes_in bytes_out files].each do |name|
      assert_equal "", column(name, server: server(uncounted: true)), name
    end
  end

  def test_each_line_has_as_many_columns_as_the_header
    [snapshot, Bontebok::Status::Snapshot.new, snapshot(server: { state: "a,b", tag: "a,\"b" })].each do |look|
      assert_equal Csv.header.count(","), Csv.line(look).count(",")
    end
  end

  private

  def column(name, **fields)
    Csv.header.split(",").zip(Csv.line(snapshot(**fields)).split(",", -1)).to_h[name]
  end
end
