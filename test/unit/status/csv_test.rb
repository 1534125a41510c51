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
            "queue_p50,queue_p99,cause"

  def test_the_columns
    assert_equal COLUMNS, Csv.header
  end

  def test_a_line_of_the_first_look
    assert_equal "#{NOW},serving,2,2,4,0,0,,0,24,0,205520896,163,0,160,0,0,3,0,0,0,0,,,,,,,", Csv.line(snapshot)
  end

  def test_a_line_with_rates_and_a_cause
    now = snapshot(at: 1002.0, time: NOW + 0.1234567, waiting: { requests: 4, oldest: 0.5 },
                   totals: totals(responses: { "2xx" => 180, "5xx" => 4 }, bytes_out: 9),
                   service_time: Array.new(50, 0).fill(3, 40, 1),
                   workers: [worker(1, state: "T", threads: [busy(1, 2)])])
    assert_equal "1795921800.123457,serving,2,1,1,1,4,0.5,0,12,0,102760448,184,0,180,0,0,4,0,0,0,9,10.5,0.5,4.0e-05," \
                 "4.0e-05,,,stopped", Csv.line(now, snapshot)
  end

  def test_each_line_has_as_many_columns_as_the_header
    [snapshot, Bontebok::Status::Snapshot.new, snapshot(server: { state: "a,b", tag: "a,\"b" })].each do |look|
      assert_equal Csv.header.count(","), Csv.line(look).count(",")
    end
  end
end
