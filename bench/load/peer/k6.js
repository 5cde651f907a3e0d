// One GET per iteration: closed with USERS users, or RATE iterations a second.
import http from 'k6/http';

const users = Number(__ENV.USERS);
const rate = Number(__ENV.RATE);

export const options = {
  summaryTrendStats: ['p(99)', 'max'],
  scenarios: {
    load: rate > 0
      ? { executor: 'constant-arrival-rate', rate: rate, timeUnit: '1s', duration: __ENV.DURATION, preAllocatedVUs: users, maxVUs: users, gracefulStop: '2s' }
      : { executor: 'constant-vus', vus: users, duration: __ENV.DURATION, gracefulStop: '2s' },
  },
};

export default function () {
  http.get(__ENV.URL);
}
